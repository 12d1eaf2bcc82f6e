#pragma once
// Guests: arrays of other libraries in the memory of a CUDA device, such as those of torch and CuPy. Requires the GIL.

#include <Python.h>

#include "device_array/device_array.h"

namespace accel {

// Whether the object's type has what guests have. Runs no Python code.
bool may_be_guest(PyObject* object);
// A DeviceArray over a guest's memory, which it keeps alive; work of the current stream comes after that of the guest's. Null
// without an exception when the object is no guest, and null with an exception when it cannot be taken.
PyObject* wrap_guest(PyObject* object);
// The array as an object of a guest's type, over the same memory. New reference, or null with an exception.
PyObject* unwrap_as(PyObject* guest_type, PyObject* device_array);
// Later work of the guest's library comes after that of the current stream. `array` is over the guest's memory; `is_unwrapped`:
// unwrap_as has made an array for the library since the work was given. False with an exception.
bool order_guest_after(PyObject* guest, PyObject* array, bool is_unwrapped);

// DeviceArray.__cuda_array_interface__, version 3.
PyObject* cuda_array_interface(PyObject* array);

}  // namespace accel
