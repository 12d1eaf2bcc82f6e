#pragma once
// Verification: one call of compiled code on copies of its arguments, compared with what the interpreter makes of the arguments
// themselves. The setting `verify` says for which share of the calls. Requires the GIL.

#include <Python.h>

#include <optional>
#include <string>

#include "cpython/py_ref.h"
#include "dispatch/versions/version_list.h"

namespace accel {

// Whether the next call is one of those that are verified.
bool is_next_verified();

class Verification {
 public:
  // Runs the entry on copies. Empty when the arguments cannot be copied, or when compiled code does not answer the call as a
  // whole: nothing has happened then. args, nargsf, names: as a vectorcall gives them.
  static std::optional<Verification> begin(EntryHold entry, PyObject* function, PyObject* const* args, size_t nargsf,
                                           PyObject* names);

  // What differs from the interpreter's result (null: its exception, which stays set), and the file that reproduces it; empty
  // when nothing does.
  std::string finish(PyObject* expected) const;

 private:
  explicit Verification(PyRef check) : check_(std::move(check)) {}

  PyRef check_;  // accel._verify.Check
};

}  // namespace accel
