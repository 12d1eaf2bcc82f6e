#pragma once
// WrappedFunction: the Python function that a dispatcher answers for, and the code that its versions were made of. Requires the
// GIL.

#include <Python.h>

#include <string>

#include "cpython/function.h"
#include "cpython/py_ref.h"
#include "dispatch/reports/python_errors.h"

namespace accel {

class WrappedFunction {
 public:
  explicit WrappedFunction(PyObject* function);  // borrowed, outlives this

  // Makes the function's current code the one that versions are made of.
  void take_code();
  // Whether the function has been given other code.
  bool has_other_code() const { return function_code(function_) != code(); }

  PyFunctionObject* function() const { return function_; }
  PyObject* object() const { return reinterpret_cast<PyObject*>(function_); }
  PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(code_.get()); }
  int local_count() const { return local_count_; }
  // Whether this many positional arguments are exactly the first locals: no defaults, *args, **kwargs or keyword-only
  // arguments.
  bool takes_as_locals(Py_ssize_t count) const { return has_plain_signature_ && count == argument_count_; }

  // Texts for users.
  std::string name() const;
  std::string name_and_place() const;
  Fallback at_start(Reason reason, std::string detail) const;

 private:
  PyFunctionObject* function_;
  PyRef code_;
  int argument_count_ = 0;
  int local_count_ = 0;
  bool has_plain_signature_ = false;
};

}  // namespace accel
