#pragma once
// ConstantHistory: values outside the arguments (globals, closures, items and attributes of these) that versions of a code
// object took for constants, and which of them have changed. What has changed once is data from then on, like an argument. All
// functions of one code object share it, as closures made by one function differ only in such values.

#include <Python.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "guard/guard_set.h"

namespace accel {

class ConstantHistory {
 public:
  // The history of a code object (borrowed), created on first use; null when memory is exhausted.
  static ConstantHistory* of(PyCodeObject* code);

  // The texts of sources to treat as data. A truth value has a version each until there are many versions.
  std::set<std::string> changed(bool versions_are_many) const;
  // Records the guards of another version; returns whether other constants have changed than known before.
  bool note(const GuardSet& guards);
  void clear() { *this = {}; }

 private:
  struct Seen {
    uint64_t value = 0;  // a fingerprint, owns nothing
    bool changed = false;
    bool is_flag = true;  // it has always been a truth value
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace accel
