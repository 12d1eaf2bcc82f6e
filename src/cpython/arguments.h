#pragma once
// Binding the arguments of a call to a function's locals, as CPython does before a function's first instruction.

#include <Python.h>

#include <vector>

#include "base/result.h"
#include "cpython/py_ref.h"

namespace accel {

// The locals of one call. Reuses its memory from call to call.
class BoundArguments {
 public:
  // False when the arguments do not fit or binding needs Python code: call the function itself then, so that CPython raises its
  // own TypeError. Runs no Python code and leaves no exception. The arguments are borrowed and must outlive the use of
  // locals().
  bool bind(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames);

  // localsplus order, borrowed; null = unbound. Cells are not made yet: a cell variable's slot has its initial value.
  PyObject* const* locals() const { return locals_.data(); }
  int count() const { return static_cast<int>(locals_.size()); }

 private:
  bool bind_positional(PyCodeObject* code, PyObject* const* args, Py_ssize_t given);
  bool bind_keywords(PyCodeObject* code, PyObject* const* values, PyObject* kwnames);
  bool bind_defaults(PyCodeObject* code, PyFunctionObject* function, Py_ssize_t given);
  bool own(PyObject* made, int slot);

  std::vector<PyObject*> locals_;
  std::vector<PyRef> owned_;  // *args, **kwargs and defaults, alive as long as the locals
};

// Binds arguments to new references. Fails with unsupported_argument.
Result<std::vector<PyRef>> bind_arguments(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames);

}  // namespace accel
