#include "dispatch/launch/library/device_sorts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "device_array/device_array.h"
#include "dispatch/launch/library/host_flag.h"
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

// What is passed for a parameter. Without an object: None, or what is no constant.
struct Parameter {
  PyObject* object = nullptr;
  bool is_given = false, is_constant = true;
};

constexpr std::array<std::string_view, 5> parameters = {"self", "axis", "kind", "order", "stable"};
constexpr size_t most_positional = 4;

size_t named_count(const BoxedCall& call) {
  return call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
}

std::string_view keyword(const BoxedCall& call, size_t number) {
  return PyUnicode_AsUTF8(PyTuple_GET_ITEM(call.keywords.get(), static_cast<Py_ssize_t>(number)));
}

// By parameter. Nothing where NumPy raises, and for parameters that not all versions of NumPy have.
std::optional<std::array<Parameter, parameters.size()>> read_parameters(const BoxedCall& call) {
  std::array<Parameter, parameters.size()> out;
  const size_t positional = call.arguments.size() - named_count(call);
  if (positional < 1 || positional > most_positional) return std::nullopt;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const auto found = k < positional ? parameters.begin() + k : std::ranges::find(parameters, keyword(call, k - positional));
    if (found == parameters.end()) return std::nullopt;
    Parameter& parameter = out[static_cast<size_t>(found - parameters.begin())];
    if (parameter.is_given) return std::nullopt;
    const CallPart& part = call.arguments[k];
    parameter = {nullptr, true, part.kind == CallPart::Kind::constant};
    if (parameter.is_constant && part.object.get() != Py_None) parameter.object = part.object.get();
  }
  return out;
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

// The axis that is sorted: the last one by default. Nothing for None, which NumPy takes for all axes, and for wrong ones.
std::optional<int> axis_of(const Parameter& axis, int rank) {
  if (axis.is_given && (axis.object == nullptr || !PyLong_CheckExact(axis.object))) return std::nullopt;
  int overflows = 0;
  const int64_t number = axis.is_given ? PyLong_AsLongLongAndOverflow(axis.object, &overflows) : -1;
  if (overflows != 0 || number < -rank || number >= rank) return std::nullopt;
  return static_cast<int>(number < 0 ? number + rank : number);
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

// Rows of keys, and of the positions of the elements, side by side.
struct Rows {
  std::shared_ptr<DeviceBlock> keys, positions;

  static Result<Rows> take(CudaDevice& device, int64_t count, int64_t item, bool has_positions) {
    Rows rows;
    ACCEL_TRY(rows.keys, new_device_block(device, count * item));
    if (has_positions) {
      ACCEL_TRY(rows.positions, new_device_block(device, count * 8));
    }
    return rows;
  }
  char* keys_data() const { return keys->data; }
  char* positions_data() const { return positions ? positions->data : nullptr; }
};

struct Sorter {
  const DeviceModule& module;
  CudaDevice& device;
  DType dtype;
  int64_t n, count;  // elements of a row, and of all rows
  bool has_positions;

  Status launch(SortKernel kernel, int64_t blocks, void** arguments) const {
    return module.launch(static_cast<int>(kernel), {blocks, sort_threads, 0}, arguments);
  }
  int64_t tiles() const { return count / n * ((n + sort_tile(dtype) - 1) / sort_tile(dtype)); }
  int64_t blocks_of_elements() const { return (count + sort_threads - 1) / sort_threads; }

  Result<Rows> sort(char* from, RowLayout layout) const {
    const int64_t item = item_size(dtype);
    ACCEL_TRY(Rows rows, Rows::take(device, count, item, has_positions));
    char *keys = rows.keys_data(), *positions = rows.positions_data();
    int64_t length = n;
    void* arguments[] = {&from, &layout, &length, &keys, &positions};
    ACCEL_TRY([[maybe_unused]] Unit done,
              launch(has_positions ? SortKernel::sort_with_positions : SortKernel::sort, tiles(), arguments));
    if (n <= sort_tile(dtype)) return rows;
    ACCEL_TRY(Rows others, Rows::take(device, count, item, has_positions));
    for (int64_t width = sort_tile(dtype); width < n; width *= 2) {
      ACCEL_TRY(done, merge(rows, others, width));
      std::swap(rows, others);
    }
    return rows;
  }

  Status merge(const Rows& from, const Rows& to, int64_t width) const {
    char *keys = from.keys_data(), *positions = from.positions_data(), *merged = to.keys_data(),
         *merged_positions = to.positions_data();
    int64_t length = n;
    void* arguments[] = {&keys, &positions, &merged, &merged_positions, &length, &width};
    return launch(has_positions ? SortKernel::merge_with_positions : SortKernel::merge, tiles(), arguments);
  }

  // Whether a row has equal elements.
  Result<bool> has_equal(const Rows& rows) const {
    HostFlag word(device);
    ACCEL_TRY([[maybe_unused]] Unit done, word.take());
    char *keys = rows.keys_data(), *address = word.address();
    int64_t length = n, all = count;
    void* arguments[] = {&keys, &length, &all, &address};
    ACCEL_TRY(done, launch(SortKernel::find_equal, blocks_of_elements(), arguments));
    ACCEL_TRY(done, device.submit());
    return without_gil([&] { return word.read(); });
  }

  // Copies the keys or the positions to a dense array that has another order of axes.
  Result<std::shared_ptr<DeviceBlock>> stored(const Rows& rows, RowLayout layout) const {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, count * (has_positions ? 8 : item_size(dtype))));
    char *from = has_positions ? rows.positions_data() : rows.keys_data(), *to = made->data;
    int64_t length = n, all = count;
    void* arguments[] = {&from, &to, &layout, &length, &all};
    const SortKernel kernel = has_positions ? SortKernel::store_positions : SortKernel::store;
    ACCEL_TRY([[maybe_unused]] Unit done, launch(kernel, blocks_of_elements(), arguments));
    return made;
  }
};

}  // namespace

std::optional<DeviceSort> device_sort_of(const BoxedCall& call) {
  static PyObject *const sort = method_of_arrays("sort"), *const argsort = method_of_arrays("argsort");
  const bool gives_positions = call.callable.get() == argsort;
  if (call.python || (call.callable.get() != sort && !gives_positions)) return std::nullopt;
  const bool has_array = call.operands.size() == 1 && call.operands[0].kind == ValueKind::array && !call.arguments.empty() &&
                         call.arguments[0].kind == CallPart::Kind::operand;
  const auto given = read_parameters(call);
  if (!has_array || !given) return std::nullopt;
  const auto [self, axis, kind, order, stable] = *given;
  const bool are_constants = axis.is_constant && kind.is_constant && order.is_constant && stable.is_constant;
  if (!are_constants || order.object != nullptr || (kind.object != nullptr && stable.object != nullptr)) return std::nullopt;
  if (stable.object != nullptr && !PyBool_Check(stable.object)) return std::nullopt;
  const std::optional<int> along = axis_of(axis, call.operands[0].rank());
  const std::optional<bool> is_stable = kind.object != nullptr ? is_stable_kind(kind.object) : stable.object == Py_True;
  if (!along || !is_stable) return std::nullopt;
  return DeviceSort{*along, gives_positions, *is_stable};
}

Result<std::shared_ptr<DeviceBlock>> sort_on_device(CudaDevice& device, const DeviceSort& sort, const BoxedCall& call,
                                                    const void* operand, const int64_t* dims, const int64_t* strides) {
  static auto* cache = new TextKernelCache;
  const Type &type = call.operands[0], &result = call.results[0];
  const int rank = type.rank();
  const int64_t count = std::accumulate(dims, dims + rank, int64_t{1}, std::multiplies<>()), n = dims[sort.axis];
  if (count == 0) return new_device_block(device, 0);
  ACCEL_TRY(const DeviceModule* module, cache->of(device, type.dtype).load(sort_text));
  const Sorter sorter{*module, device, type.dtype, n, count, sort.gives_positions};
  if (sorter.blocks_of_elements() > most_blocks || sorter.tiles() > most_blocks) return std::shared_ptr<DeviceBlock>();
  char* const from = static_cast<char*>(const_cast<void*>(operand));
  ACCEL_TRY(Rows rows, sorter.sort(from, rows_along(sort.axis, rank, dims, strides)));
  if (sort.gives_positions && !sort.is_stable) {
    ACCEL_TRY(bool has_equal, sorter.has_equal(rows));
    if (has_equal) return std::shared_ptr<DeviceBlock>();
  }
  if (result.order.empty() && sort.axis == rank - 1) return sort.gives_positions ? rows.positions : rows.keys;
  return sorter.stored(rows, rows_along(sort.axis, rank, dims,
                                        dense_strides(result.dtype, {dims, static_cast<size_t>(rank)}, result.order).data()));
}

}  // namespace accel
