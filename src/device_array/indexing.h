#pragma once
// Indexing: views for integers, slices, newaxis and Ellipsis; what arrays and lists select, accel._device_functions computes.
// Requires the GIL.

#include "device_array/object.h"

namespace accel {

// mp_subscript: a view, a NumPy scalar when integers select one element, or a copy of selected elements.
PyObject* device_subscript(PyObject* array, PyObject* key);
// mp_ass_subscript
int assign_device_subscript(PyObject* array, PyObject* key, PyObject* value);
// sq_item, for iteration.
PyObject* device_item(PyObject* array, Py_ssize_t index);
// DeviceArray.item: one element as a Python number.
PyObject* device_array_item(PyObject* array, PyObject* arguments);

}  // namespace accel
