#include "dispatch/launch/library/device_searches.h"

#include <array>
#include <cstring>

#include "dispatch/launch/library/host_flag.h"
#include "dispatch/launch/library/row_layout.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"
#include "ndarray/array.h"

namespace accel {
namespace {

// What is searched for: elements of an array, or one number, at `address` if that is not null.
struct Wanted {
  RowLayout rows;
  int64_t n = 1, count = 1;  // elements of a row, and of all rows
  char* address = nullptr;
  std::array<uint64_t, 2> number = {};
  std::vector<int64_t> shape;
};

// The bits of a number as NumPy casts it to the dtype. Nothing where it cannot, without an exception.
std::optional<std::array<uint64_t, 2>> bits_in(DType dtype, PyObject* number) {
  std::array<uint64_t, 2> bits = {};
  if (read_scalar(number, dtype, bits.data())) return bits;
  PyErr_Clear();
  return std::nullopt;
}

std::optional<Wanted> number_wanted(DType dtype, PyRef number) {
  Wanted wanted;
  const auto bits = number ? bits_in(dtype, number.get()) : std::nullopt;
  if (!number) PyErr_Clear();
  if (!bits) return std::nullopt;
  wanted.number = *bits;
  return wanted;
}

std::optional<Wanted> read_wanted(CudaDevice& device, DType dtype, const SearchForm& form,
                                  std::span<const FormOperand> operands) {
  if (!form.wanted) return number_wanted(dtype, form.constant);
  const FormOperand& operand = operands[static_cast<size_t>(*form.wanted)];
  if (operand.type->kind != ValueKind::array) {
    uint64_t bits[2] = {0, 0};
    std::memcpy(bits, operand.data, static_cast<size_t>(item_size(operand.type->dtype)));
    return number_wanted(dtype, PyRef::steal(new_numpy_scalar(operand.type->dtype, bits)));
  }
  if (operand.dims.empty() && !device.is_device_memory(operand.data)) return std::nullopt;  // pending kernels may write it
  Wanted wanted;
  wanted.address = operand.data;
  wanted.shape.assign(operand.dims.begin(), operand.dims.end());
  wanted.count = count_of(operand.dims);
  if (operand.dims.empty()) return wanted;
  const auto last = static_cast<int>(operand.dims.size()) - 1;
  wanted.rows = rows_along(last, operand.dims, operand.strides);
  wanted.n = operand.dims.back();
  return wanted;
}

struct Search {
  const DeviceModule& module;
  CudaDevice& device;
  char* sorted;
  int64_t step, length;  // bytes; elements

  Status launch(SearchKernel kernel, int64_t count, void** arguments) const {
    return module.launch(static_cast<int>(kernel), {(count + search_threads - 1) / search_threads, search_threads, 0},
                         arguments);
  }

  Result<bool> is_sorted() const {
    HostFlag word(device);
    ACCEL_TRY([[maybe_unused]] Unit done, word.take());
    char *from = sorted, *address = word.address();
    int64_t bytes = step, n = length;
    void* arguments[] = {&from, &bytes, &n, &address};
    ACCEL_TRY(done, launch(SearchKernel::find_unsorted, length, arguments));
    ACCEL_TRY(done, device.submit());
    ACCEL_TRY(const bool is_set, without_gil([&] { return word.read(); }));
    return !is_set;
  }

  Result<DeviceResult> find(Wanted wanted, bool is_right) const {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, wanted.count * 8));
    if (wanted.count == 0) return DeviceResult{std::move(made), std::move(wanted.shape)};
    char *from = sorted, *to = made->data;
    int64_t bytes = step, n = length, right = is_right;
    void* arguments[] = {&from,         &bytes, &n, &wanted.address, &wanted.number, &wanted.rows, &wanted.n,
                         &wanted.count, &right, &to};
    ACCEL_TRY([[maybe_unused]] Unit done, launch(SearchKernel::find, wanted.count, arguments));
    return DeviceResult{std::move(made), std::move(wanted.shape)};
  }
};

}  // namespace

Result<std::optional<DeviceResult>> search_on_device(CudaDevice& device, const SearchForm& form,
                                                     std::span<const FormOperand> operands) {
  static auto* cache = new TextKernelCache;
  const FormOperand& sorted = operands[0];
  const DType dtype = sorted.type->dtype;
  std::optional<Wanted> wanted = read_wanted(device, dtype, form, operands);
  if (!wanted || sorted.dims.size() != 1) return std::optional<DeviceResult>();
  ACCEL_TRY(const DeviceModule* module, cache->of(device, dtype).load(search_text));
  const Search search{*module, device, sorted.data, sorted.strides[0], sorted.dims[0]};
  if (search.length > 1) {
    ACCEL_TRY(const bool is_sorted, search.is_sorted());
    if (!is_sorted) return std::optional<DeviceResult>();
  }
  ACCEL_TRY(DeviceResult found, search.find(*std::move(wanted), form.is_right));
  return std::optional(std::move(found));
}

}  // namespace accel
