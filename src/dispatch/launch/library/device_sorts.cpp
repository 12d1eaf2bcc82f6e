#include "dispatch/launch/library/device_sorts.h"

#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/launch/library/failure_word.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"
#include "guard/guard_test.h"
#include "ndarray/array.h"

namespace accel {
namespace {

constexpr int64_t most_blocks = int64_t{1} << 30;

// --- the arguments of a call -------------------------------------------------------------------------------------------

PyObject* method_of_arrays(const char* name) {
  return PyObject_GetAttrString(reinterpret_cast<PyObject*>(ndarray_type()), name);
}

// The constant that is passed for a parameter after the array; null where none is, or not a constant.
struct Parameter {
  PyObject* object = nullptr;
  bool is_known = true;
};

Parameter parameter(const BoxedCall& call, size_t position, std::string_view name) {
  const size_t named = call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
  const size_t positional = call.arguments.size() - named;
  const CallPart* part = position < positional ? &call.arguments[position] : nullptr;
  for (size_t k = 0; k < named; ++k)
    if (name == PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.keywords.get(), static_cast<Py_ssize_t>(k))))
      part = &call.arguments[positional + k];
  if (part == nullptr) return {};
  if (part->kind != CallPart::Kind::constant) return {nullptr, false};
  return {part->object.get() == Py_None ? nullptr : part->object.get(), true};
}

// Whether all named arguments are of those that NumPy's sorts have had from the start.
bool has_known_keywords(const BoxedCall& call) {
  static constexpr std::array<std::string_view, 4> known = {"axis", "kind", "order", "stable"};
  for (Py_ssize_t k = 0; call.keywords && k < PyTuple_GET_SIZE(call.keywords.get()); ++k) {
    const std::string_view name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.keywords.get(), k));
    if (std::find(known.begin(), known.end(), name) == known.end()) return false;
  }
  return true;
}

// Whether a kind of sort asks for a stable one; nothing for what is none of NumPy's.
std::optional<bool> is_stable_kind(PyObject* kind) {
  const char* text = PyUnicode_CheckExact(kind) ? PyUnicode_AsUTF8(kind) : nullptr;
  if (text == nullptr) return std::nullopt;
  const std::string_view name = text;
  if (name == "stable" || name == "mergesort") return true;
  if (name == "quicksort" || name == "heapsort") return false;
  return std::nullopt;
}

// --- kernels -----------------------------------------------------------------------------------------------------------

// An array as rows along the axis that is sorted.
RowLayout rows_along(int axis, int rank, const int64_t* dims, const int64_t* strides) {
  RowLayout rows;
  rows.along = strides[axis];
  for (int k = 0; k < rank; ++k) {
    if (k == axis) continue;
    rows.shape[rows.rank] = dims[k];
    rows.steps[rows.rank++] = strides[k];
  }
  return rows;
}

std::vector<int64_t> strides_in_order(const Type& type, const int64_t* dims) {
  std::vector<int64_t> strides(static_cast<size_t>(type.rank()));
  int64_t stride = item_size(type.dtype);
  for (size_t k = strides.size(); k-- > 0;) {
    const size_t axis = type.order.empty() ? k : type.order[k];
    strides[axis] = stride;
    stride *= std::max<int64_t>(dims[axis], 1);
  }
  return strides;
}

// Rows of keys, and of the numbers of the elements, side by side.
struct Rows {
  std::shared_ptr<DeviceBlock> keys, numbers;

  static Result<Rows> take(CudaDevice& device, int64_t count, int64_t item, bool has_numbers) {
    Rows rows;
    ACCEL_TRY(rows.keys, new_device_block(device, count * item));
    if (has_numbers) {
      ACCEL_TRY(rows.numbers, new_device_block(device, count * 8));
    }
    return rows;
  }
  char* keys_data() const { return keys->data; }
  char* numbers_data() const { return numbers ? numbers->data : nullptr; }
};

struct Sorter {
  const DeviceModule& module;
  CudaDevice& device;
  DType dtype;
  int64_t n, count;  // elements of a row, and of all rows
  bool has_numbers;

  Status launch(SortKernel kernel, int64_t blocks, void** arguments) const {
    return module.launch(static_cast<int>(kernel), {blocks, sort_threads, 0}, arguments);
  }
  int64_t tiles() const { return count / n * ((n + sort_tile(dtype) - 1) / sort_tile(dtype)); }
  int64_t blocks_of_elements() const { return (count + sort_threads - 1) / sort_threads; }

  Result<Rows> sort(char* from, RowLayout layout) const {
    const int64_t item = item_size(dtype);
    ACCEL_TRY(Rows rows, Rows::take(device, count, item, has_numbers));
    char *keys = rows.keys_data(), *numbers = rows.numbers_data();
    int64_t length = n;
    void* arguments[] = {&from, &layout, &length, &keys, &numbers};
    ACCEL_TRY([[maybe_unused]] Unit done,
              launch(has_numbers ? SortKernel::sort_numbered : SortKernel::sort, tiles(), arguments));
    if (n <= sort_tile(dtype)) return rows;
    ACCEL_TRY(Rows others, Rows::take(device, count, item, has_numbers));
    for (int64_t width = sort_tile(dtype); width < n; width *= 2) {
      ACCEL_TRY(done, merge(rows, others, width));
      std::swap(rows, others);
    }
    return rows;
  }

  Status merge(const Rows& from, const Rows& to, int64_t width) const {
    char *keys = from.keys_data(), *numbers = from.numbers_data(), *merged = to.keys_data(),
         *merged_numbers = to.numbers_data();
    int64_t length = n;
    void* arguments[] = {&keys, &numbers, &merged, &merged_numbers, &length, &width};
    return launch(has_numbers ? SortKernel::merge_numbered : SortKernel::merge, tiles(), arguments);
  }

  // Whether a row has equal elements.
  Result<bool> has_equal(const Rows& rows) const {
    FailureWord word(device);
    ACCEL_TRY([[maybe_unused]] Unit done, word.take());
    char *keys = rows.keys_data(), *address = word.address();
    int64_t length = n, all = count;
    void* arguments[] = {&keys, &length, &all, &address};
    ACCEL_TRY(done, launch(SortKernel::find_equal, blocks_of_elements(), arguments));
    ACCEL_TRY(done, device.submit());
    return without_gil([&] { return word.read(); });
  }

  // Copies the keys or the numbers to a dense array that has another order of axes.
  Result<std::shared_ptr<DeviceBlock>> stored(const Rows& rows, RowLayout layout) const {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, count * (has_numbers ? 8 : item_size(dtype))));
    char *from = has_numbers ? rows.numbers_data() : rows.keys_data(), *to = made->data;
    int64_t length = n, all = count;
    void* arguments[] = {&from, &to, &layout, &length, &all};
    const SortKernel kernel = has_numbers ? SortKernel::store_numbers : SortKernel::store;
    ACCEL_TRY([[maybe_unused]] Unit done, launch(kernel, blocks_of_elements(), arguments));
    return made;
  }
};

}  // namespace

std::optional<DeviceSort> device_sort_of(const BoxedCall& call) {
  static PyObject *const sort = method_of_arrays("sort"), *const argsort = method_of_arrays("argsort");
  const bool gives_numbers = call.callable.get() == argsort;
  if (call.python || (call.callable.get() != sort && !gives_numbers) || !has_known_keywords(call)) return std::nullopt;
  const Parameter axis = parameter(call, 1, "axis"), kind = parameter(call, 2, "kind"), order = parameter(call, 3, "order"),
                  stable = parameter(call, 4, "stable");
  const bool are_known = axis.is_known && kind.is_known && order.is_known && stable.is_known;
  if (!are_known || order.object != nullptr || (kind.object != nullptr && stable.object != nullptr)) return std::nullopt;
  const int rank = call.operands[0].rank();
  const bool is_flat = axis.object == nullptr && (call.arguments.size() > 1 && rank > 1);  // axis=None, or none is given
  if (is_flat || rank == 0) return std::nullopt;
  int64_t along = -1;
  if (axis.object != nullptr) {
    if (!PyLong_CheckExact(axis.object)) return std::nullopt;
    along = PyLong_AsLongLong(axis.object);
  }
  if (along < -rank || along >= rank) return std::nullopt;
  DeviceSort made{static_cast<int>(along < 0 ? along + rank : along), gives_numbers, stable.object == Py_True};
  if (stable.object != nullptr && !PyBool_Check(stable.object)) return std::nullopt;
  if (kind.object == nullptr) return made;
  const std::optional<bool> is_stable = is_stable_kind(kind.object);
  if (!is_stable) return std::nullopt;
  made.is_stable = *is_stable;
  return made;
}

Result<std::shared_ptr<DeviceBlock>> sort_on_device(CudaDevice& device, const DeviceSort& sort, const BoxedCall& call,
                                                    const void* operand, const int64_t* dims, const int64_t* strides) {
  static auto* cache = new TextKernelCache;
  const Type &type = call.operands[0], &result = call.results[0];
  const int rank = type.rank();
  const int64_t count = std::accumulate(dims, dims + rank, int64_t{1}, std::multiplies<>()), n = dims[sort.axis];
  if (count == 0) return new_device_block(device, 0);
  ACCEL_TRY(const DeviceModule* module, cache->of(device, type.dtype).load(sort_text));
  const Sorter sorter{*module, device, type.dtype, n, count, sort.gives_numbers};
  if (sorter.blocks_of_elements() > most_blocks || sorter.tiles() > most_blocks) return std::shared_ptr<DeviceBlock>();
  char* const from = static_cast<char*>(const_cast<void*>(operand));
  ACCEL_TRY(Rows rows, sorter.sort(from, rows_along(sort.axis, rank, dims, strides)));
  if (sort.gives_numbers && !sort.is_stable) {
    ACCEL_TRY(bool has_equal, sorter.has_equal(rows));
    if (has_equal) return std::shared_ptr<DeviceBlock>();
  }
  if (result.order.empty() && sort.axis == rank - 1) return sort.gives_numbers ? rows.numbers : rows.keys;
  return sorter.stored(rows, rows_along(sort.axis, rank, dims, strides_in_order(result, dims).data()));
}

}  // namespace accel
