#include "dispatch/launch/library/device_counts.h"

#include <algorithm>
#include <cstring>

#include "dispatch/launch/library/row_layout.h"
#include "dispatch/launch/library/row_sorter.h"
#include "dispatch/launch/library/text_kernels.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

constexpr int64_t items_of_block = 4096;  // at least, unless there are fewer
constexpr int64_t most_count_blocks = 256;
constexpr int64_t most_bins = int64_t{1} << 40;         // NumPy has no memory for more
constexpr int64_t most_summed_bins = int64_t{1} << 30;  // by a block each
constexpr int64_t most_bins_of_block = 2048;            // for sums: a block needs one per warp and bin
constexpr int64_t static_shared_bytes = 8 * 1024;       // that the kernels have besides the bins, at most
constexpr int64_t most_counted_bytes = 32 * 1024;       // of bins in shared memory: more of them keep blocks from running
constexpr int64_t items_of_wide_block = 512;            // per bin: from there on it is summed by many threads

int64_t blocks_of(int64_t n) { return std::clamp((n + items_of_block - 1) / items_of_block, int64_t{1}, most_count_blocks); }

// A list of numbers in memory of the device.
struct Numbers {
  char* data = nullptr;
  int64_t step = 0, n = 0;  // bytes; elements

  static Numbers of(const FormOperand& operand) { return {operand.data, operand.strides[0], operand.dims[0]}; }
};

struct Counter {
  const DeviceModule& module;
  CudaDevice& device;
  Numbers x;

  Status launch(CountKernel kernel, const LaunchShape& shape, void** arguments) const {
    return module.launch(static_cast<int>(kernel), shape, arguments);
  }

  // The least and the largest element.
  Result<std::pair<int64_t, int64_t>> limits() const {
    const int64_t blocks = blocks_of(x.n);
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, blocks * 16));
    Numbers from = x;
    char* to = made->data;
    void* arguments[] = {&from.data, &from.step, &from.n, &to};
    ACCEL_TRY([[maybe_unused]] Unit done, launch(CountKernel::limits, {blocks, count_threads, 0}, arguments));
    ACCEL_TRY(done, device.submit());
    std::vector<int64_t> found(static_cast<size_t>(blocks) * 2);
    ACCEL_TRY(done, without_gil([&] { return device.download(found.data(), made->data, blocks * 16); }));
    std::pair<int64_t, int64_t> all{found[0], found[1]};
    for (size_t k = 0; k < found.size(); k += 2) all = {std::min(all.first, found[k]), std::max(all.second, found[k + 1])};
    return all;
  }

  Result<std::shared_ptr<DeviceBlock>> zeros(int64_t bins) const {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, bins * 8));
    if (bins == 0) return made;
    char* to = made->data;
    int64_t count = bins;
    void* arguments[] = {&to, &count};
    ACCEL_TRY([[maybe_unused]] Unit done,
              launch(CountKernel::clear, {(bins + count_threads - 1) / count_threads, count_threads, 0}, arguments));
    return made;
  }

  Result<std::shared_ptr<DeviceBlock>> count(int64_t bins) const {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, zeros(bins));
    Numbers from = x;
    char* to = made->data;
    const bool is_in_block = bins * 4 <= most_counted_bytes;
    void* arguments[] = {&from.data, &from.step, &from.n, &bins, &to};
    const LaunchShape shape{(x.n + items_of_block - 1) / items_of_block, count_threads,
                            is_in_block ? static_cast<int>(bins * 4) : 0};
    ACCEL_TRY([[maybe_unused]] Unit done,
              launch(is_in_block ? CountKernel::count_in_blocks : CountKernel::count, shape, arguments));
    return made;
  }

  // For few bins: each block adds up its part of the elements.
  Result<std::shared_ptr<DeviceBlock>> sum_in_blocks(Numbers weights, int64_t bins) const {
    int64_t blocks = blocks_of(x.n), part = (x.n + blocks - 1) / blocks;
    ACCEL_TRY(std::shared_ptr<DeviceBlock> sums, new_device_block(device, blocks * bins * 8));
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, bins * 8));
    Numbers from = x;
    char *partial = sums->data, *to = made->data;
    void* arguments[] = {&from.data, &from.step, &from.n, &weights.data, &weights.step, &part, &bins, &partial};
    ACCEL_TRY([[maybe_unused]] Unit done,
              launch(CountKernel::sum_in_blocks, {blocks, count_threads, static_cast<int>(shared_bytes(bins))}, arguments));
    void* of_sums[] = {&partial, &blocks, &bins, &to};
    ACCEL_TRY(done, launch(CountKernel::add_blocks, {(bins + count_threads - 1) / count_threads, count_threads, 0}, of_sums));
    return made;
  }
  static int64_t shared_bytes(int64_t bins) { return bins * 8 * (count_threads / 32); }

  // For many bins: the elements are sorted, so that those of a bin follow each other. Null for too many elements.
  Result<std::shared_ptr<DeviceBlock>> sum_sorted(Numbers weights, int64_t bins) const {
    const int64_t dims[] = {x.n}, strides[] = {x.step};
    ACCEL_TRY(const std::optional<RowSorter> sorter, RowSorter::make(device, DType::int64, x.n, x.n, true));
    if (!sorter) return std::shared_ptr<DeviceBlock>();
    ACCEL_TRY(SortedRows sorted, sorter->sort(x.data, rows_along(0, dims, strides)));
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, new_device_block(device, bins * 8));
    char *keys = sorted.keys_data(), *positions = sorted.positions_data(), *to = made->data;
    int64_t n = x.n;
    void* arguments[] = {&keys, &positions, &n, &weights.data, &weights.step, &to};
    const int threads = n >= bins * items_of_wide_block ? count_threads : 32;
    ACCEL_TRY([[maybe_unused]] Unit done, launch(CountKernel::sum_sorted, {bins, threads, 0}, arguments));
    return made;
  }
};

// Nothing where minlength is negative.
std::optional<int64_t> least_bins(const CountForm& form, std::span<const FormOperand> operands) {
  int64_t least = form.least;
  if (form.least_operand) std::memcpy(&least, operands[static_cast<size_t>(*form.least_operand)].data, sizeof least);
  return least < 0 || least > most_bins ? std::nullopt : std::optional(least);
}

}  // namespace

Result<std::optional<DeviceResult>> count_on_device(CudaDevice& device, const CountForm& form,
                                                    std::span<const FormOperand> operands) {
  static auto* cache = new TextKernelCache;
  const auto nothing = std::optional<DeviceResult>();
  const std::optional<int64_t> least = least_bins(form, operands);
  const Numbers x = Numbers::of(operands[0]);
  if (!least || x.n > most_bins) return nothing;
  ACCEL_TRY(const DeviceModule* module, cache->of(device, DType::int64).load(count_text));
  const Counter counter{*module, device, x};
  int64_t bins = *least;
  if (x.n == 0) {  // the weights are ignored
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, counter.zeros(bins));
    return std::optional(DeviceResult{std::move(made), {bins}});
  }
  ACCEL_TRY(const auto limits, counter.limits());
  if (limits.first < 0 || limits.second >= most_bins) return nothing;
  bins = std::max(bins, limits.second + 1);
  if (!form.weights) {
    ACCEL_TRY(std::shared_ptr<DeviceBlock> made, counter.count(bins));
    return std::optional(DeviceResult{std::move(made), {bins}});
  }
  const Numbers weights = Numbers::of(operands[static_cast<size_t>(*form.weights)]);
  if (weights.n != x.n || bins > most_summed_bins) return nothing;
  const bool is_in_block =
      bins <= most_bins_of_block && Counter::shared_bytes(bins) + static_shared_bytes <= device.shared_bytes();
  ACCEL_TRY(std::shared_ptr<DeviceBlock> made,
            is_in_block ? counter.sum_in_blocks(weights, bins) : counter.sum_sorted(weights, bins));
  if (!made) return nothing;
  return std::optional(DeviceResult{std::move(made), {bins}});
}

}  // namespace accel
