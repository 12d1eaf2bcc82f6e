#include "device_array/object.h"

#include <new>

#include "device_array/failures.h"

namespace accel {

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

// What NumPy gives arrays without elements differs from version to version.
static std::vector<int64_t> empty_strides(DType dtype, std::span<const int64_t> dims) {
  PyRef empty = PyRef::steal(new_array(dtype, dims, {}));
  if (!empty) PyErr_Clear();
  std::vector<int64_t> strides(dims.size());
  for (size_t i = 0; empty && i < dims.size(); i++) strides[i] = array_layout(empty.get()).strides[i];
  return strides;
}

std::vector<int64_t> dense_strides(DType dtype, std::span<const int64_t> dims, std::span<const uint8_t> order) {
  if (element_count(dims) == 0) return empty_strides(dtype, dims);
  std::vector<int64_t> strides(dims.size());
  int64_t step = item_size(dtype);
  for (size_t i = dims.size(); i-- > 0;) {
    size_t axis = order.empty() ? i : order[i];
    strides[axis] = step;
    step *= dims[axis];
  }
  return strides;
}

// Dims and strides lie after the object, in its allocation.
static PyObject* make_object(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                             std::shared_ptr<DeviceBlock> block, char* data, bool writeable, PyObject* base) {
  PyTypeObject* type = device_array_type();
  if (type == nullptr) return nullptr;
  if (dims.size() > static_cast<size_t>(max_rank)) {
    PyErr_SetString(PyExc_ValueError, "maximum supported dimension for an ndarray exceeded");
    return nullptr;
  }
  void* memory = PyObject_Malloc(sizeof(DeviceArrayObject) + 2 * dims.size() * sizeof(intptr_t));
  if (memory == nullptr) return PyErr_NoMemory();
  bool owns_data = base == nullptr && block->guest == nullptr;
  auto* made = new (memory) DeviceArrayObject{};
  auto* extents = reinterpret_cast<intptr_t*>(made + 1);
  made->fields.data = data;
  made->fields.rank = static_cast<int>(dims.size());
  made->fields.dims = extents;
  made->fields.strides = extents + dims.size();
  for (size_t i = 0; i < dims.size(); i++) extents[i] = dims[i], extents[dims.size() + i] = strides[i];
  made->fields.base = Py_XNewRef(base);
  made->fields.descr = Py_NewRef(descr_of(dtype));
  made->fields.flags = array_flags(dtype, dims, strides, data, writeable, owns_data);
  made->dtype = dtype;
  made->block = std::move(block);
  return PyObject_Init(reinterpret_cast<PyObject*>(made), type);
}

PyObject* new_device_array(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                           std::shared_ptr<DeviceBlock> block, char* data, bool writeable) {
  return make_object(dtype, dims, strides, std::move(block), data, writeable, nullptr);
}

PyObject* new_device_view(PyObject* array, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides,
                          char* data, bool writeable) {
  PyObject* base = as_device(array)->fields.base;
  writeable = writeable && array_layout(array).writeable;
  return make_object(dtype, dims, strides, block_of(array), data, writeable, base != nullptr ? base : array);
}

void make_read_only(PyObject* array) {
  as_device(array)->fields.flags = array_flags(dtype_of(array), dims_of(array), strides_of(array), data_of(array),
                                               /*writeable=*/false, array_layout(array).owns_data);
}

const std::shared_ptr<DeviceBlock>& block_of(PyObject* device_array) { return as_device(device_array)->block; }

PyObject* new_dense_device_array(CudaDevice& device, DType dtype, std::span<const int64_t> dims,
                                 std::span<const uint8_t> order) {
  Result<std::shared_ptr<DeviceBlock>> block = new_device_block(device, element_count(dims) * item_size(dtype));
  if (!block) return raise_device_failure(block.failure());
  char* data = (*block)->data;
  return new_device_array(dtype, dims, dense_strides(dtype, dims, order), std::move(*block), data);
}

PyObject* view_with_layout(PyObject* array, PyObject* unreadable) {
  ArrayFacts facts = array_facts(unreadable);
  if (!facts.dtype) {
    PyErr_SetString(PyExc_TypeError, "a DeviceArray cannot have this dtype, or elements that are not aligned");
    return nullptr;
  }
  auto rank = static_cast<size_t>(facts.ndim);
  return new_device_view(array, *facts.dtype, {reinterpret_cast<const int64_t*>(facts.dims), rank},
                         {reinterpret_cast<const int64_t*>(facts.strides), rank}, facts.data, facts.writeable);
}

}  // namespace accel
