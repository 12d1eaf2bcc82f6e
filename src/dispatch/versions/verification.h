#pragma once
// Verification: runs compiled code on copies of a call's arguments, and compares with the interpreter's result of the call
// itself. The setting `verify` is the share of calls that are verified. Requires the GIL.

#include <Python.h>

#include <optional>
#include <string>

#include "cpython/py_ref.h"
#include "dispatch/versions/version_list.h"

namespace accel {

// Whether to verify the next call.
bool is_next_verified();

class Verification {
 public:
  // Runs the entry on copies. Empty, without effects, when the arguments cannot be copied or compiled code does not answer the
  // call as a whole. args, nargsf, names: as in a vectorcall.
  static std::optional<Verification> begin(EntryHold entry, PyObject* function, PyObject* const* args, size_t nargsf,
                                           PyObject* names);

  // The differences from the interpreter's result (null: its exception, which stays set), and the file that reproduces them;
  // empty when there are none.
  std::string finish(PyObject* expected) const;

 private:
  explicit Verification(PyRef check) : check_(std::move(check)) {}

  PyRef check_;  // accel._verify.Check
};

}  // namespace accel
