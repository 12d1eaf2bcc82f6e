#include "dispatch/launch/library/row_sorter.h"

#include <utility>

#include "dispatch/launch/library/host_flag.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

constexpr int64_t most_sort_blocks = int64_t{1} << 30;

}  // namespace

Result<SortedRows> SortedRows::take(CudaDevice& device, int64_t count, int64_t item, bool has_positions) {
  SortedRows rows;
  ACCEL_TRY(rows.keys, new_device_block(device, count * item));
  if (has_positions) {
    ACCEL_TRY(rows.positions, new_device_block(device, count * 8));
  }
  return rows;
}

Result<std::optional<RowSorter>> RowSorter::make(CudaDevice& device, DType dtype, int64_t n, int64_t count,
                                                 bool has_positions) {
  static auto* cache = new TextKernelCache;
  ACCEL_TRY(const DeviceModule* module, cache->of(device, dtype).load(sort_text));
  const RowSorter made(*module, device, dtype, n, count, has_positions);
  if (made.blocks_of_elements() > most_sort_blocks || made.tiles() > most_sort_blocks) return std::optional<RowSorter>();
  return std::optional(made);
}

Status RowSorter::launch(SortKernel kernel, int64_t blocks, void** arguments) const {
  return module_->launch(static_cast<int>(kernel), {blocks, sort_threads, 0}, arguments);
}

Result<SortedRows> RowSorter::sort(char* from, RowLayout layout) const {
  const int64_t item = item_size(dtype_);
  ACCEL_TRY(SortedRows rows, SortedRows::take(*device_, count_, item, has_positions_));
  char *keys = rows.keys_data(), *positions = rows.positions_data();
  int64_t length = n_;
  void* arguments[] = {&from, &layout, &length, &keys, &positions};
  ACCEL_TRY([[maybe_unused]] Unit done,
            launch(has_positions_ ? SortKernel::sort_with_positions : SortKernel::sort, tiles(), arguments));
  if (n_ <= tile()) return rows;
  ACCEL_TRY(const std::shared_ptr<DeviceBlock> bounds, new_device_block(*device_, tiles() * 8));
  ACCEL_TRY(SortedRows others, SortedRows::take(*device_, count_, item, has_positions_));
  for (int64_t width = tile(); width < n_; width *= 2) {
    ACCEL_TRY(done, merge(rows, others, width, bounds->data));
    std::swap(rows, others);
  }
  return rows;
}

Status RowSorter::merge(const SortedRows& from, const SortedRows& to, int64_t width, char* bounds) const {
  char *keys = from.keys_data(), *positions = from.positions_data(), *merged = to.keys_data(),
       *merged_positions = to.positions_data();
  int64_t length = n_, count = tiles();
  void* of_divide[] = {&keys, &length, &width, &count, &bounds};
  ACCEL_TRY([[maybe_unused]] Unit done, launch(has_positions_ ? SortKernel::divide_with_positions : SortKernel::divide,
                                               (count + sort_threads - 1) / sort_threads, of_divide));
  void* of_merge[] = {&keys, &positions, &merged, &merged_positions, &length, &width, &bounds};
  return launch(has_positions_ ? SortKernel::merge_with_positions : SortKernel::merge, count, of_merge);
}

Result<bool> RowSorter::has_equal(const SortedRows& rows) const {
  HostFlag word(*device_);
  ACCEL_TRY([[maybe_unused]] Unit done, word.take());
  char *keys = rows.keys_data(), *address = word.address();
  int64_t length = n_, all = count_;
  void* arguments[] = {&keys, &length, &all, &address};
  ACCEL_TRY(done, launch(SortKernel::find_equal, blocks_of_elements(), arguments));
  ACCEL_TRY(done, device_->submit());
  return without_gil([&] { return word.read(); });
}

Result<std::shared_ptr<DeviceBlock>> RowSorter::stored(const SortedRows& rows, RowLayout layout) const {
  ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(*device_, count_ * (has_positions_ ? 8 : item_size(dtype_))));
  char *from = has_positions_ ? rows.positions_data() : rows.keys_data(), *to = made->data;
  int64_t length = n_, all = count_;
  void* arguments[] = {&from, &to, &layout, &length, &all};
  const SortKernel kernel = has_positions_ ? SortKernel::store_positions : SortKernel::store;
  ACCEL_TRY([[maybe_unused]] Unit done, launch(kernel, blocks_of_elements(), arguments));
  return made;
}

}  // namespace accel
