#pragma once
// Operators and conversions to numbers. Operators call accel._device_functions. Requires the GIL.

#include <Python.h>

namespace accel {

extern PyNumberMethods device_number_methods;
// tp_richcompare
PyObject* compare_device_array(PyObject* self, PyObject* other, int operation);

}  // namespace accel
