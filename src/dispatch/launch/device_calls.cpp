#include "dispatch/launch/device_calls.h"

#include <functional>
#include <new>
#include <numeric>

#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

int64_t bytes_of_result(const Type& type, const int64_t* dims) {
  return std::accumulate(dims, dims + type.rank(), int64_t{item_size(type.dtype)}, std::multiplies<>());
}

}  // namespace

Result<int> DeviceCalls::call(int number, const void* const* operands, const int64_t* dims) {
  computed_.erase(number);
  const BoxedCall& call = sites_[static_cast<size_t>(number)];
  if (!has_device_form(call.device_form)) return call_on_host(number, operands, dims);
  ACCEL_TRY(std::optional<DeviceResult> computed, run_form(device_, call, form_operands(call, operands, dims)));
  if (!computed) return call_on_host(number, operands, dims);
  computed_.emplace(number, *std::move(computed));
  return 0;
}

int64_t DeviceCalls::extent(int number, int result, int axis) const {
  const auto found = computed_.find(number);
  return found == computed_.end() ? calls_.extent(number, result, axis) : found->second.shape[static_cast<size_t>(axis)];
}

Result<int> DeviceCalls::call_on_host(int number, const void* const* operands, const int64_t* dims) {
  const std::vector<Type>& types = sites_[static_cast<size_t>(number)].operands;
  const int64_t *shape = dims, *strides = dims;
  for (const Type& type : types) strides += type.rank();
  std::vector<const void*> values;
  for (size_t k = 0; k < types.size(); ++k) {
    ACCEL_TRY(const void* value, on_host(types[k], operands[k], shape, strides));
    values.push_back(value);
    shape += types[k].rank();
    strides += types[k].rank();
  }
  const int status = calls_.call(number, values.data(), dims);
  copies_.clear();
  return status;
}

// Whether an array without axes is in memory of the host, as numbers are. Waits for the kernels that may write or read it.
Result<bool> DeviceCalls::is_awaited_number(const Type& type, const void* memory) {
  if (type.rank() > 0 || device_.is_device_memory(memory)) return false;
  ACCEL_TRY([[maybe_unused]] Unit done, without_gil([&] { return device_.wait(); }));
  return true;
}

// Memory of the host with an operand. Numbers are there; of arrays all between the first and the last element is copied.
Result<const void*> DeviceCalls::on_host(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides) {
  if (type.kind != ValueKind::array) return memory;
  ACCEL_TRY(const bool is_number, is_awaited_number(type, memory));
  if (is_number) return memory;
  if (const char* found = address_in_original(unchanged_, static_cast<const char*>(memory))) return found;
  ArrayLayout layout;
  layout.item_bytes = item_size(type.dtype);
  layout.ndim = type.rank();
  layout.dims = reinterpret_cast<const intptr_t*>(dims);
  layout.strides = reinterpret_cast<const intptr_t*>(strides);
  layout.data = static_cast<char*>(const_cast<void*>(memory));
  const auto [low, high] = memory_span(layout);
  if (low == high) return memory;
  copies_.emplace_back(new (std::nothrow) char[static_cast<size_t>(high - low)]);
  char* const copy = copies_.back().get();
  if (copy == nullptr) return fail(Reason::out_of_memory, "memory for an operand of a call");
  auto download = [&, low = low, high = high] { return device_.download(copy, low, high - low); };
  ACCEL_TRY([[maybe_unused]] Unit copied, without_gil(download));
  return copy + (layout.data - low);
}

std::shared_ptr<DeviceBlock> DeviceCalls::take_computed(int number) {
  const auto found = computed_.find(number);
  if (found == computed_.end()) return nullptr;
  std::shared_ptr<DeviceBlock> block = std::move(found->second.block);
  computed_.erase(found);
  return block;
}

Result<int> DeviceCalls::receive_computed(const DeviceResult& computed, const Type& type, void* memory, const int64_t* dims) {
  const int64_t bytes = bytes_of_result(type, dims);
  if (bytes == 0) return 0;
  char* const from = computed.block->data;
  auto copy = [&] {
    return type.kind == ValueKind::array ? device_.copy(static_cast<char*>(memory), from, bytes)
                                         : device_.download(memory, from, bytes);
  };
  ACCEL_TRY([[maybe_unused]] Unit copied, without_gil(copy));
  return 0;
}

Result<int> DeviceCalls::receive(int number, int result, void* memory, const int64_t* dims) {
  const Type& type = sites_[static_cast<size_t>(number)].results[static_cast<size_t>(result)];
  const auto computed = computed_.find(number);
  if (computed != computed_.end()) return receive_computed(computed->second, type, memory, dims);
  if (type.kind != ValueKind::array) return calls_.receive(number, result, memory, dims);
  const int64_t bytes = bytes_of_result(type, dims);
  char* const to = static_cast<char*>(memory);
  ACCEL_TRY(const bool is_number, is_awaited_number(type, memory));
  if (is_number) return calls_.receive(number, result, memory, dims);
  const std::optional<ArrayLayout> layout = calls_.received(number, result, dims);
  if (!layout) return int{accel_error};
  if (bytes == 0) return 0;
  ACCEL_TRY([[maybe_unused]] Unit copied, without_gil([&] { return device_.upload(to, layout->data, bytes); }));
  return 0;
}

}  // namespace accel
