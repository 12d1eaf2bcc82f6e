#pragma once
// DeviceArray: the Python type `accel.DeviceArray` of arrays in the memory of a CUDA device. Requires the GIL.
//
// Its objects begin with the fields of an ndarray, so that array_layout (ndarray/array.h) reads both.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "runtime/cuda/device.h"

namespace accel {

// Borrowed; null with an exception when the type cannot be made.
PyTypeObject* device_array_type();
bool is_device_array(PyObject* object);
// The method of DeviceArrays for a method of ndarrays as its type has it (a descriptor). Borrowed; null: it is none, or
// DeviceArrays do not have it.
PyObject* method_of_device_arrays(PyObject* descriptor);

// Strides of a dense array with these axes, from slowest to fastest (empty: C order).
std::vector<int64_t> dense_strides(DType dtype, std::span<const int64_t> dims, std::span<const uint8_t> order);
// An array over part of a block. Strides in bytes; `data` is the address of element 0. New reference, or null with an
// exception.
PyObject* new_device_array(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                           std::shared_ptr<DeviceBlock> block, char* data, bool writeable = true);
// A view as NumPy would have made it: its `base` is that of `array`, or `array`. It is writeable if `array` is, too. New
// reference, or null with an exception.
PyObject* new_device_view(PyObject* array, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                          char* data, bool writeable = true);
const std::shared_ptr<DeviceBlock>& block_of(PyObject* device_array);
void make_read_only(PyObject* device_array);

// A copy of an ndarray, dense in its memory order, on the device. New reference, or null with an exception.
PyObject* to_device(PyObject* ndarray, CudaDevice& device);
// A copy as an ndarray with the array's memory order. New reference, or null with an exception.
PyObject* to_host(PyObject* device_array);
// Assigns the elements of an ndarray of the same dtype and shape; strided arrays are copied through contiguous host memory.
// False with an exception.
bool store_from_host(PyObject* device_array, PyObject* ndarray);

}  // namespace accel
