#pragma once
// DeviceArrayObject: the C layout of accel.DeviceArray. Only files of this folder use it, and they hold the GIL.

#include <vector>

#include "cpython/py_ref.h"
#include "device_array/device_array.h"
#include "device_array/device_functions.h"
#include "ndarray/array.h"
#include "ndarray/array_fields.h"

namespace accel {

// `fields.base` is the DeviceArray that a view was made of, and null for others: as DeviceArrays refer to nothing but these and
// dtypes, no reference cycle leads through them and the collector does not know them.
struct DeviceArrayObject {
  ArrayFields fields;
  DType dtype;
  std::shared_ptr<DeviceBlock> block;
};

inline DeviceArrayObject* as_device(PyObject* object) { return reinterpret_cast<DeviceArrayObject*>(object); }
inline DType dtype_of(PyObject* array) { return as_device(array)->dtype; }
inline char* data_of(PyObject* array) { return as_device(array)->fields.data; }
inline CudaDevice& device_of(PyObject* array) { return *as_device(array)->block->device; }
inline std::span<const int64_t> dims_of(PyObject* array) {
  return {reinterpret_cast<const int64_t*>(as_device(array)->fields.dims), static_cast<size_t>(as_device(array)->fields.rank)};
}
inline std::span<const int64_t> strides_of(PyObject* array) {
  return {reinterpret_cast<const int64_t*>(as_device(array)->fields.strides),
          static_cast<size_t>(as_device(array)->fields.rank)};
}

int64_t element_count(std::span<const int64_t> dims);
inline int64_t bytes_of(PyObject* array) { return element_count(dims_of(array)) * item_size(dtype_of(array)); }

// An array with memory of its own whose elements have no values yet. New reference, or null with an exception.
PyObject* new_dense_device_array(CudaDevice& device, DType dtype, std::span<const int64_t> dims,
                                 std::span<const uint8_t> order);
// The view of `array` that has the layout of `unreadable`, a view of new_unreadable_array(array). New reference, or null with
// an exception.
PyObject* view_with_layout(PyObject* array, PyObject* unreadable);

}  // namespace accel
