#include "ndarray/array_fields.h"

#include <algorithm>
#include <cstddef>

#include "ndarray/numpy_api.h"

namespace accel {
namespace {

#define SAME_PLACE(own, numpys) static_assert(offsetof(ArrayFields, own) == offsetof(PyArrayObject_fields, numpys))
SAME_PLACE(data, data);
SAME_PLACE(rank, nd);
SAME_PLACE(dims, dimensions);
SAME_PLACE(strides, strides);
SAME_PLACE(base, base);
SAME_PLACE(descr, descr);
SAME_PLACE(flags, flags);
SAME_PLACE(weak_references, weakreflist);
#undef SAME_PLACE
static_assert(sizeof(intptr_t) == sizeof(npy_intp));

bool is_empty(std::span<const int64_t> dims) { return std::find(dims.begin(), dims.end(), 0) != dims.end(); }

// Whether the axes from the fastest on, the last one or the first one, follow each other without gaps.
bool is_contiguous(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t item, bool last_is_fastest) {
  int64_t expected = item;
  for (size_t i = 0; i < dims.size(); i++) {
    size_t axis = last_is_fastest ? dims.size() - 1 - i : i;
    if (dims[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= dims[axis];
  }
  return true;
}

bool is_aligned(std::span<const int64_t> dims, std::span<const int64_t> strides, const char* data, int alignment) {
  auto bits = reinterpret_cast<uintptr_t>(data);
  for (size_t axis = 0; axis < dims.size(); axis++) {
    if (dims[axis] > 1) bits |= static_cast<uintptr_t>(strides[axis]);
  }
  return bits % static_cast<uintptr_t>(alignment) == 0;
}

}  // namespace

int array_flags(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, const char* data, bool writeable,
                bool owns_data) {
  bool empty = is_empty(dims);
  int flags = writeable ? NPY_ARRAY_WRITEABLE : 0;
  if (owns_data) flags |= NPY_ARRAY_OWNDATA;
  if (empty || is_contiguous(dims, strides, item_size(dtype), true)) flags |= NPY_ARRAY_C_CONTIGUOUS;
  if (empty || is_contiguous(dims, strides, item_size(dtype), false)) flags |= NPY_ARRAY_F_CONTIGUOUS;
  if (empty || is_aligned(dims, strides, data, item_size(part_dtype(dtype)))) flags |= NPY_ARRAY_ALIGNED;
  return flags;
}

PyObject* new_unreadable_array(const ArrayFields& fields) {
  Py_INCREF(fields.descr);
  return PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(fields.descr), fields.rank, fields.dims,
                              fields.strides, fields.data, fields.flags & NPY_ARRAY_WRITEABLE, nullptr);
}

}  // namespace accel
