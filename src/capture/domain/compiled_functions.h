#pragma once
// Accel's own compiled functions as capture meets them: like the Python functions that they wrap.

#include <Python.h>

namespace accel {

// Set by dispatch: the type of compiled functions (borrowed), and the wrapped Python function of one that capture may follow a
// call into (borrowed), or null.
using Unwrap = PyObject* (*)(PyObject* callable);
void set_compiled_functions(PyTypeObject* type, Unwrap unwrap);

// Null where there is nothing to follow.
PyObject* unwrapped(PyObject* callable);

// A Python function, or a compiled one: as attributes of classes they make bound methods, and they are what they are by
// identity.
bool is_python_function(PyObject* object);

}  // namespace accel
