#pragma once
// Compiled functions of accel as values in captured code: capture treats them like the Python functions that they wrap.

#include <Python.h>

namespace accel {

// Registers the type of compiled functions (borrowed) and the function that maps one to the Python function it wraps
// (borrowed), or to null where capture may not follow the call. Called once by dispatch.
using Unwrap = PyObject* (*)(PyObject* callable);
void set_compiled_functions(PyTypeObject* type, Unwrap unwrap);

// The wrapped Python function if `callable` is a compiled function whose calls capture may follow, else null.
PyObject* unwrapped(PyObject* callable);

// Whether it is a Python function or a compiled function: both become bound methods as class attributes and compare by
// identity.
bool is_python_function(PyObject* object);

}  // namespace accel
