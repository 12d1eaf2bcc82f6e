#pragma once
// ConstantHistory: what versions of one code object have taken for constants outside the arguments (globals, closures, items
// and attributes of these), and which of it has changed since. What has changed once is data from then on, like an argument.
// All functions of one code object share it: closures that one function makes differ in nothing but such values.

#include <Python.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "guard/guard_set.h"

namespace accel {

class ConstantHistory {
 public:
  // The history of a code object (borrowed), created at the first request. Null when memory for it cannot be had.
  static ConstantHistory* of(PyCodeObject* code);

  // Texts of the sources that are data. Truth values have a version each until versions are many.
  std::set<std::string> changed(bool versions_are_many) const;
  // The guards of one more version. Whether they ask for other constants than earlier ones.
  bool note(const GuardSet& guards);
  void clear() { *this = {}; }

 private:
  struct Seen {
    uint64_t value = 0;  // tells constants apart, owns nothing
    bool changed = false;
    bool is_flag = true;  // it has been a truth value always
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace accel
