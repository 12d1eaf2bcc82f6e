#pragma once
// Calls of accel._device_functions, and of the compiled functions of one operation that these make. Requires the GIL.

#include <Python.h>

#include <initializer_list>
#include <span>

namespace accel {

// A function of accel._device_functions, called with positional arguments. New reference, or null with an exception.
PyObject* call_device_function(const char* name, std::initializer_list<PyObject*> arguments);

// Calls a compiled function of one operation; the thread is inside it meanwhile. New reference, or null with an exception.
PyObject* run_device_function(PyObject* compiled, std::span<PyObject* const> operands);
// Whether the calling thread is inside one: what its interpreter does to DeviceArrays is then done on copies on the host.
bool is_in_device_function();

}  // namespace accel
