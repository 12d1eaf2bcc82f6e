#pragma once
// Copies between arrays of the device and of the host. Requires the GIL, which copies release while they wait.

#include <optional>

#include "device_array/object.h"

namespace accel {

// The element at an address as a NumPy scalar. New reference, or null with an exception.
PyObject* read_element(PyObject* array, const char* data);
// A copy on the device; `order` is one of NumPy's C, F, A, K. New reference, or null with an exception.
PyObject* copy_on_device(PyObject* array, char order);
// Assigns to all elements, as `array[...] = value` does. False with an exception.
bool store(PyObject* array, PyObject* value);
// Assigns to the one element of a view, as `array[i, j] = value` with an integer for each axis does. False with an exception.
bool store_element(PyObject* array, PyObject* value);

// The axes of a copy with the order C, F, A or K, from slowest to fastest.
std::vector<uint8_t> order_of_copy(PyObject* array, char order);
// C, F, A or K from what Python code may pass as `order`. nullopt with an exception.
std::optional<char> order_from_python(PyObject* order);

}  // namespace accel
