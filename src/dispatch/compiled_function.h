#pragma once
// CompiledFunction: the callable that accel.compile returns. A type with vectorcall that behaves like the wrapped function: it
// binds as a method, has the function's attributes, weak references, a __dict__, and supports garbage collection.

#include <Python.h>

#include "dispatch/versions/dispatcher.h"

namespace accel {

// The type (borrowed, static), ready for use; null with an exception.
PyTypeObject* compiled_function_type();

bool is_compiled_function(PyObject* object);

// New reference, null with an exception. Requires an exact Python function.
PyObject* new_compiled_function(PyObject* function, DispatchOptions options);

// Requires is_compiled_function. Valid as long as the object lives.
Dispatcher& dispatcher_of(PyObject* compiled);
PyObject* wrapped_function(PyObject* compiled);  // borrowed

// The function to inline when captured code calls `callable` (borrowed); null when that is no compiled function or is disabled.
PyObject* function_to_inline(PyObject* callable);

// Calls reset() on every compiled function of the process.
void reset_all();

}  // namespace accel
