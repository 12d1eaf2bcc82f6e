#include "device_array/transfer.h"

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>

#include "device_array/failures.h"
#include "device_array/layout.h"

namespace accel {
namespace {

constexpr int64_t small_span = 1 << 20;   // bytes that are moved whole, however few of them are wanted
constexpr int64_t most_bytes_wasted = 4;  // of larger spans: bytes moved for each byte wanted

std::span<const int64_t> extents(const intptr_t* values, int rank) {
  return {reinterpret_cast<const int64_t*>(values), static_cast<size_t>(rank)};
}

// Runs a copy or a wait without the GIL. False with an exception.
template <class Work>
bool done_unlocked(Work work) {
  PyThreadState* state = PyEval_SaveThread();
  Status status = work();
  PyEval_RestoreThread(state);
  if (!status) raise_device_failure(status.failure());
  return status.ok();
}

bool download(PyObject* array, void* to, const char* from, int64_t bytes) {
  if (bytes == 0) return true;
  std::shared_ptr<DeviceBlock> held = block_of(array);
  return done_unlocked([&] { return held->device->download(to, from, bytes); });
}

bool upload(PyObject* array, char* to, const void* from, int64_t bytes) {
  if (bytes == 0) return true;
  std::shared_ptr<DeviceBlock> held = block_of(array);
  return done_unlocked([&] { return held->device->upload(to, from, bytes); });
}

ByteSpan span_of(PyObject* array) { return byte_span(dims_of(array), strides_of(array), item_size(dtype_of(array))); }

std::optional<std::vector<uint8_t>> own_order(PyObject* array) {
  return dense_order(dims_of(array), strides_of(array), item_size(dtype_of(array)));
}

// The bytes between the first and the last element in memory of the host, and an ndarray over them.
struct HostSpan {
  std::unique_ptr<char[]> memory;
  PyRef array;
};

HostSpan download_span(PyObject* array) {
  HostSpan out;
  ByteSpan span = span_of(array);
  out.memory.reset(new (std::nothrow) char[static_cast<size_t>(std::max<int64_t>(span.bytes(), 1))]);
  if (!out.memory) {
    PyErr_NoMemory();
    return out;
  }
  if (!download(array, out.memory.get(), data_of(array) + span.begin, span.bytes())) return out;
  out.array =
      PyRef::steal(new_array_over(dtype_of(array), dims_of(array), strides_of(array), out.memory.get() - span.begin, true));
  return out;
}

bool is_same_layout(PyObject* array, const ArrayFacts& facts) {
  return facts.dtype == dtype_of(array) && std::ranges::equal(dims_of(array), extents(facts.dims, facts.ndim));
}

// Copies elements of dense arrays of the same strides.
bool copy_block(PyObject* to, PyObject* from) {
  int64_t bytes = bytes_of(to);
  CudaDevice& device = device_of(to);
  if (bytes == 0) return true;
  bool overlap = data_of(to) < data_of(from) + bytes && data_of(from) < data_of(to) + bytes;
  if (!overlap) return done_unlocked([&] { return device.copy(data_of(to), data_of(from), bytes); });
  Result<std::shared_ptr<DeviceBlock>> between = new_device_block(device, bytes);
  if (!between) return raise_device_failure(between.failure()) != nullptr;
  return done_unlocked([&]() -> Status {
    ACCEL_TRY(Unit unit, device.copy((*between)->data, data_of(from), bytes));
    (void)unit;
    return device.copy(data_of(to), (*between)->data, bytes);
  });
}

bool may_copy_block(PyObject* to, PyObject* value) {
  return is_device_array(value) && &device_of(value) == &device_of(to) && is_same_layout(to, array_facts(value)) &&
         std::ranges::equal(strides_of(to), strides_of(value)) && own_order(to).has_value();
}

// False with NumPy's exception.
bool is_writeable(PyObject* array) {
  bool writeable = array_layout(array).writeable;
  if (!writeable) PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
  return writeable;
}

// Assigns to what `index` selects of an array of one element on the host, as NumPy does, and copies the element to `array`.
bool store_by_numpy(PyObject* array, PyObject* element, PyObject* index, PyObject* value) {
  if (PyObject_SetItem(element, index, value) < 0) return false;
  return upload(array, data_of(array), array_data(element), item_size(dtype_of(array)));
}

std::vector<uint8_t> c_order(size_t rank) {
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

}  // namespace

PyObject* to_device(PyObject* ndarray, CudaDevice& device) {
  ArrayFacts facts = array_facts(ndarray);
  if (!facts.dtype) {
    return raise_unsupported_on_device(Reason::unsupported_dtype,
                                       "the array has a dtype that devices do not have, or is not aligned",
                                       reason_info(Reason::unsupported_dtype).way_out);
  }
  PyRef source = PyRef::borrow(ndarray);
  auto order = dense_order(extents(facts.dims, facts.ndim), extents(facts.strides, facts.ndim), facts.item_bytes);
  if (!order) {
    source = PyRef::steal(dense_copy(ndarray));
    if (!source) return nullptr;
    facts = array_facts(source.get());
    order = dense_order(extents(facts.dims, facts.ndim), extents(facts.strides, facts.ndim), facts.item_bytes);
  }
  PyRef made = PyRef::steal(new_dense_device_array(device, *facts.dtype, extents(facts.dims, facts.ndim), *order));
  if (!made || !upload(made.get(), data_of(made.get()), facts.data, bytes_of(made.get()))) return nullptr;
  return made.release();
}

PyObject* to_host(PyObject* array) {
  if (auto order = own_order(array)) {
    PyRef made = PyRef::steal(new_array(dtype_of(array), dims_of(array), *order));
    if (!made || !download(array, array_data(made.get()), data_of(array), bytes_of(array))) return nullptr;
    return made.release();
  }
  if (span_of(array).bytes() > std::max(small_span, most_bytes_wasted * bytes_of(array))) {
    PyRef packed = PyRef::steal(call_device_function("packed", {array}));
    if (!packed) return nullptr;
    if (is_device_array(packed.get()) && own_order(packed.get())) return to_host(packed.get());
  }
  HostSpan span = download_span(array);
  return span.array ? dense_copy(span.array.get()) : nullptr;
}

PyObject* read_element(PyObject* array, const char* data) {
  uint64_t bits[2] = {0, 0};
  if (!download(array, bits, data, item_size(dtype_of(array)))) return nullptr;
  return new_numpy_scalar(dtype_of(array), bits);
}

std::vector<uint8_t> order_of_copy(PyObject* array, char order) {
  std::vector<uint8_t> axes = c_order(dims_of(array).size());
  ArrayLayout layout = array_layout(array);
  if (order == 'F' || (order == 'A' && layout.f_contiguous && !layout.c_contiguous)) std::reverse(axes.begin(), axes.end());
  if (order != 'K' || layout.c_contiguous) return axes;
  if (layout.f_contiguous) return {axes.rbegin(), axes.rend()};
  std::span<const int64_t> strides = strides_of(array);
  std::stable_sort(axes.begin(), axes.end(), [&](uint8_t a, uint8_t b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  return axes;
}

PyObject* copy_on_device(PyObject* array, char order) {
  std::vector<uint8_t> wanted = order_of_copy(array, order);
  std::vector<int64_t> strides = dense_strides(dtype_of(array), dims_of(array), wanted);
  bool is_block = own_order(array).has_value();
  for (size_t axis = 0; axis < strides.size(); axis++) {
    is_block = is_block && (dims_of(array)[axis] == 1 || strides[axis] == strides_of(array)[axis]);
  }
  if (!is_block && bytes_of(array) > 0) {
    PyRef text = PyRef::steal(PyUnicode_FromStringAndSize(&order, 1));
    return text ? call_device_function("copied", {array, text.get()}) : nullptr;
  }
  PyRef made = PyRef::steal(new_dense_device_array(device_of(array), dtype_of(array), dims_of(array), wanted));
  return made && copy_block(made.get(), array) ? made.release() : nullptr;
}

bool store_from_host(PyObject* array, PyObject* ndarray) {
  auto order = own_order(array);
  if (!order) {
    HostSpan span = download_span(array);
    if (!span.array || !copy_elements(span.array.get(), ndarray)) return false;
    return upload(array, data_of(array) + span_of(array).begin, span.memory.get(), span_of(array).bytes());
  }
  ArrayFacts facts = array_facts(ndarray);
  PyRef source = PyRef::borrow(ndarray);
  bool is_block = is_same_layout(array, facts) && std::ranges::equal(strides_of(array), extents(facts.strides, facts.ndim));
  if (!is_block) {
    source = PyRef::steal(new_array(dtype_of(array), dims_of(array), *order));
    if (!source || !copy_elements(source.get(), ndarray)) return false;
  }
  return upload(array, data_of(array), array_data(source.get()), bytes_of(array));
}

bool store_element(PyObject* array, PyObject* value) {
  if (!is_writeable(array)) return false;
  uint64_t bits[2];
  int64_t one = 1;
  if (read_scalar(value, dtype_of(array), bits)) return upload(array, data_of(array), bits, item_size(dtype_of(array)));
  PyRef host = is_device_array(value) ? PyRef::steal(to_host(value)) : PyRef::borrow(value);
  PyRef element = PyRef::steal(host ? new_array(dtype_of(array), {&one, 1}, {}) : nullptr);
  PyRef index = PyRef::steal(element ? PyLong_FromLong(0) : nullptr);
  return index && store_by_numpy(array, element.get(), index.get(), host.get());
}

bool store(PyObject* array, PyObject* value) {
  if (!is_writeable(array)) return false;
  uint64_t bits[2];
  if (element_count(dims_of(array)) == 1 && read_scalar(value, dtype_of(array), bits)) {
    return upload(array, data_of(array), bits, item_size(dtype_of(array)));
  }
  if (dims_of(array).empty() && !is_array(value) && !is_device_array(value)) {  // sequences are no arrays here
    PyRef element = PyRef::steal(new_array(dtype_of(array), {}, {}));
    return element && store_by_numpy(array, element.get(), Py_Ellipsis, value);
  }
  if (may_copy_block(array, value)) return data_of(array) == data_of(value) || copy_block(array, value);
  if (is_exact_array(value) && is_same_layout(array, array_facts(value)) && own_order(array)) {
    return store_from_host(array, value);
  }
  return static_cast<bool>(PyRef::steal(call_device_function("assign", {array, value})));
}

std::optional<char> order_from_python(PyObject* order) {
  const char* text = PyUnicode_Check(order) ? PyUnicode_AsUTF8(order) : nullptr;
  char letter = text != nullptr && text[0] != '\0' && text[1] == '\0' ? static_cast<char>(text[0] & ~0x20) : '\0';
  if (order == Py_None) letter = 'C';
  if (letter == 'C' || letter == 'F' || letter == 'A' || letter == 'K') return letter;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got %R)", order);
  return std::nullopt;
}

}  // namespace accel
