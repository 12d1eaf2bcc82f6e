#pragma once
// CompiledFunction: the callable that accel.compile returns. A vectorcall type of its own that behaves like the function it
// wraps: binds as a method, has the function's attributes, weak references, a __dict__, and takes part in garbage collection.

#include <Python.h>

#include "dispatch/versions/dispatcher.h"

namespace accel {

// The type (borrowed, static), ready for use; null with an exception.
PyTypeObject* compiled_function_type();

bool is_compiled_function(PyObject* object);

// New reference, null with an exception. Requires an exact Python function.
PyObject* new_compiled_function(PyObject* function, DispatchOptions options);

// Requires is_compiled_function. Valid as long as the object.
Dispatcher& dispatcher_of(PyObject* compiled);
PyObject* wrapped_function(PyObject* compiled);  // borrowed

// The function that capture may follow a call of `callable` into (borrowed); null when it is no compiled function or disabled.
PyObject* function_to_inline(PyObject* callable);

// Calls reset() on every compiled function of the process.
void reset_all();

}  // namespace accel
