#pragma once
// What the Python side needs of NumPy arrays and scalars. Only this folder includes NumPy's headers.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "cpython/py_ref.h"
#include "ir/dtype.h"

namespace accel {

constexpr int max_rank = 64;  // NPY_MAXDIMS

// Imports NumPy's C API once. False with a Python exception set when NumPy cannot be used.
bool import_numpy();
// n of the NumPy 2.n that is imported. Requires import_numpy().
int numpy_minor();
// Whether NumPy's loops for complex numbers use fused multiply-add. It depends on the CPU and on NPY_DISABLE_CPU_FEATURES.
// Requires import_numpy().
bool contracts_products();

// Memory layout of an exact ndarray, or of an object that begins with its fields (array_fields.h). Pointers are borrowed.
struct ArrayLayout {
  const void* descr = nullptr;  // identity of the dtype object
  int64_t item_bytes = 0;
  int ndim = 0;
  const intptr_t* dims = nullptr;
  const intptr_t* strides = nullptr;
  char* data = nullptr;
  bool aligned = false, c_contiguous = false, f_contiguous = false, writeable = false, owns_data = false;
  bool warns_when_written = false;  // of numpy.broadcast_arrays
};
// Memory layout of an exact ndarray, and the dtype of its elements.
struct ArrayFacts : ArrayLayout {
  std::optional<DType> dtype;  // set for aligned, native, builtin dtypes of the IR (longlong aliases and metadata excluded)
};

constexpr int most_axes = 60;
// Whether a copy fits into the machine's memory: a broadcast view (stride 0) may have more elements than any memory, and NumPy
// raises MemoryError where one is copied, whether or not the copy is used.
bool fits_in_memory(const ArrayLayout& layout);
// Whether capture and guards can take an exact ndarray with these facts.
inline bool is_supported(const ArrayFacts& facts) {
  return facts.dtype.has_value() && facts.ndim <= most_axes && fits_in_memory(facts);
}

bool is_exact_array(PyObject* object);   // type(object) is numpy.ndarray
bool is_array(PyObject* object);         // subclasses too
bool is_numpy_scalar(PyObject* object);  // instance of numpy.generic
// Both require is_exact_array, or an object that begins with ArrayFields.
ArrayLayout array_layout(PyObject* array);
ArrayFacts array_facts(PyObject* array);

// The canonical dtype object of `dtype` (borrowed, immortal), and the DType of a dtype object (nullopt: none of ours).
PyObject* descr_of(DType dtype);
std::optional<DType> dtype_of_descr(PyObject* descr);
// The scalar type (numpy.float64, ...) of `dtype` (borrowed).
PyTypeObject* scalar_type_of(DType dtype);
// DType of an exact NumPy scalar; nullopt when it is none of ours.
std::optional<DType> dtype_of_scalar(PyObject* scalar);

// New reference or null with an exception. Dense, uninitialised memory; axes from slowest to fastest in `order` (empty = C).
PyObject* new_array(DType dtype, std::span<const int64_t> dims, std::span<const uint8_t> order);
// Arrays of more than 1 MiB made by new_array take their memory from here, through a NEP 49 handler named "accel"; they own
// their data. The functions have the meaning of malloc, calloc(1, bytes), realloc and free; they may be called from any thread.
struct ResultAllocator {
  void* (*allocate)(size_t bytes) = nullptr;
  void* (*allocate_zeroed)(size_t bytes) = nullptr;
  void* (*reallocate)(void* memory, size_t bytes) = nullptr;
  void (*release)(void* memory, size_t bytes) = nullptr;
};
// Call once, before the first new_array.
void install_result_allocator(const ResultAllocator& allocator);
// A view as NumPy would have made it (base collapsed, flags updated, writeable as the base). offset and strides in bytes.
PyObject* new_view(PyObject* base, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                   int64_t offset);
void* array_data(PyObject* array);
// An array over memory that it neither owns nor refers to. Strides in bytes.
PyObject* new_array_over(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, const void* memory,
                         bool writeable = false);
// A dense copy with the array's memory order. New reference, or null with an exception.
PyObject* dense_copy(PyObject* array);
// Copies the elements between arrays of equal dtype and shape. False with an exception.
bool copy_elements(PyObject* to, PyObject* from);

// NumPy scalar / Python scalar from the bits of `dtype`. New reference or null with an exception.
PyObject* new_numpy_scalar(DType dtype, const void* bits);
PyObject* new_python_scalar(DType dtype, const void* bits);
// Bits of a Python bool, int (if it fits int64), float, complex or NumPy scalar, as `dtype`. False when it has no such bits.
bool read_scalar(PyObject* scalar, DType dtype, uint64_t bits[2]);

}  // namespace accel
