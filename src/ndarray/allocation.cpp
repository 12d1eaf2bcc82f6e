// New arrays. Large ones take their memory from the result pool through a NEP 49 handler.

#include <algorithm>
#include <cstddef>

#include "ndarray/array.h"
#include "ndarray/numpy_api.h"

namespace accel {
namespace {

constexpr int64_t pooled_bytes = int64_t{1} << 20;

ResultAllocator pool;  // null functions: NumPy's own allocator serves all sizes

void* handler_malloc(void*, size_t bytes) { return pool.allocate(bytes); }
void* handler_calloc(void*, size_t count, size_t item) { return pool.allocate_zeroed(count * item); }
void* handler_realloc(void*, void* memory, size_t bytes) { return pool.reallocate(memory, bytes); }
void handler_free(void*, void* memory, size_t bytes) { pool.release(memory, bytes); }

PyDataMem_Handler handler = {"accel", 1, {nullptr, handler_malloc, handler_calloc, handler_realloc, handler_free}};

// The capsule that names the handler (borrowed), null with an exception.
PyObject* handler_capsule() {
  static PyObject* capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
  return capsule;
}

// Makes the pool NumPy's allocator in this context for its lifetime.
class PoolScope {
 public:
  explicit PoolScope(bool wanted) {
    if (!wanted || pool.allocate == nullptr) return;
    PyObject* capsule = handler_capsule();
    if (capsule) previous_ = PyRef::steal(PyDataMem_SetHandler(capsule));
    if (!previous_) PyErr_Clear();
  }
  ~PoolScope() {
    if (!previous_) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyRef ours = PyRef::steal(PyDataMem_SetHandler(previous_.get()));
    if (!ours) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
  }
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  PyRef previous_;
};

// Strides of dense memory. NumPy gives arrays without elements strides of 0. Returns the size in bytes, -1 when too large.
int64_t dense_strides(int64_t item, std::span<const int64_t> dims, std::span<const uint8_t> order, npy_intp* strides) {
  int rank = static_cast<int>(dims.size());
  int64_t bytes = item;
  for (int k = rank - 1; k >= 0; k--) {
    int axis = order.empty() ? k : order[k];
    strides[axis] = bytes;
    if (__builtin_mul_overflow(bytes, dims[axis], &bytes)) bytes = -1;
    if (bytes <= 0) break;
  }
  if (bytes == 0) std::fill_n(strides, rank, 0);
  return bytes;
}

}  // namespace

void install_result_allocator(const ResultAllocator& allocator) { pool = allocator; }

PyObject* new_array(DType dtype, std::span<const int64_t> dims, std::span<const uint8_t> order) {
  npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
  int rank = static_cast<int>(dims.size());
  if (rank > NPY_MAXDIMS) {
    PyErr_Format(PyExc_ValueError, "maximum supported dimension for an ndarray is currently %d, found %d", NPY_MAXDIMS, rank);
    return nullptr;
  }
  for (int i = 0; i < rank; i++) shape[i] = dims[i];
  int64_t bytes = dense_strides(item_size(dtype), dims, order, strides);
  PyObject* descr = descr_of(dtype);
  Py_INCREF(descr);
  PoolScope scope(bytes > pooled_bytes);
  // Without strides for sizes that overflow: NumPy raises its own error.
  return PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(descr), rank, shape,
                              bytes < 0 || order.empty() ? nullptr : strides, nullptr, 0, nullptr);
}

}  // namespace accel
