#pragma once
// Methods and functions that rearrange axes: views, or copies where NumPy makes them. Requires the GIL.

#include "device_array/object.h"

namespace accel {

// What `function` makes of the array. It may only rearrange axes and select elements of the array (the result is a view, or a
// list or tuple of views), or compute something that depends on the layouts and addresses of DeviceArrays alone. New reference,
// or null with an exception.
PyObject* rearranged(PyObject* function, PyObject* array, PyObject* arguments, PyObject* keywords);
// What the ndarray method `name` makes of the array, as `rearranged` does. New reference, or null with an exception.
PyObject* call_view_method(const char* name, PyObject* array, PyObject* arguments, PyObject* keywords);
// The attribute `name` of ndarrays, which is a view.
PyObject* view_attribute(PyObject* array, const char* name);

PyObject* device_array_reshape(PyObject* array, PyObject* arguments, PyObject* keywords);
PyObject* device_array_ravel(PyObject* array, PyObject* arguments, PyObject* keywords);
PyObject* device_array_flatten(PyObject* array, PyObject* arguments, PyObject* keywords);
PyObject* device_array_copy(PyObject* array, PyObject* arguments, PyObject* keywords);

}  // namespace accel
