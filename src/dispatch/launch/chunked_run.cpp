#include "dispatch/launch/chunked_run.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/settings.h"
#include "dispatch/signals/interrupt.h"

namespace accel {
namespace {

constexpr int64_t most_parts = 64;

}  // namespace

std::optional<ChunkPlan> ChunkPlan::make(const DeviceCode& code) {
  if (!code.chunks) return std::nullopt;
  const Chunks& chunks = *code.chunks;
  ChunkPlan plan;
  plan.iterations = DimProgram(chunks.dims, chunks.iterations);
  for (const ChunkedBuffer& each : chunks.buffers)
    plan.arrays.push_back({each.buffer, each.is_output, each.binding, DimProgram(chunks.dims, each.step),
                           DimProgram(chunks.dims, each.low), DimProgram(chunks.dims, each.high)});
  for (const KernelName& kernel : code.kernels) plan.buffers.push_back(kernel.buffers);
  return plan;
}

int64_t ChunkedArray::reach(int64_t count) const { return count == 0 ? begin : (count - 1) * step + high; }

std::optional<ChunkedRun> ChunkedRun::make(const ChunkPlan& plan, CudaDevice& device, const int64_t* symbols) {
  const int64_t bytes_of_part = settings().transfer_part_bytes.get();
  if (bytes_of_part == 0) return std::nullopt;
  ChunkedRun made(plan, device);
  made.iterations_ = plan.iterations.evaluate(symbols);
  int64_t bytes = 0;
  for (const ChunkPlan::Array& array : plan.arrays) {
    ChunkedArray own{array.buffer, array.is_output, array.binding};
    own.step = array.step.evaluate(symbols), own.low = array.low.evaluate(symbols), own.high = array.high.evaluate(symbols);
    // Iterations of a result must not touch each other's bytes.
    if (own.step <= 0 || own.high <= own.low || (own.is_output && (own.low < 0 || own.high > own.step))) return std::nullopt;
    own.begin = own.low;
    own.end = own.reach(made.iterations_);
    bytes += own.end - own.begin;
    made.arrays_.push_back(own);
  }
  made.parts_ = std::min({bytes / bytes_of_part, most_parts, made.iterations_});
  if (made.parts_ < 2) return std::nullopt;
  return made;
}

bool ChunkedRun::has(bool is_output, int binding) const {
  return std::ranges::any_of(
      arrays_, [&](const ChunkedArray& array) { return array.is_output == is_output && array.binding == binding; });
}

// A thread that copies the results of each part to the host.
class ChunkedRun::Downloads {
 public:
  Downloads(const ChunkedRun& run, CudaStream stream) : run_(run), stream_(stream) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {  // no more threads: finish() copies
    }
  }
  ~Downloads() { (void)finish(); }

  // All work of the current stream so far is that of the first `count` iterations.
  Status add(int64_t count) {
    const CudaStream computing = run_.device_->stream();
    {
      const StreamScope in(*run_.device_, stream_);
      ACCEL_TRY([[maybe_unused]] Unit ordered, run_.device_->order_after(computing));
    }
    tell([&] { computed_ = count; });
    return Unit{};
  }
  // Waits for all that was added.
  Status finish() {
    if (is_last_) return status_;
    tell([&] { is_last_ = true; });
    if (thread_.joinable())
      thread_.join();
    else
      work();
    return status_;
  }

 private:
  template <class Change>
  void tell(const Change& change) {
    {
      std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_one();
  }

  void work() {
    const StreamScope in(*run_.device_, stream_);
    for (int64_t done = 0;;) {
      int64_t next = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return computed_ > done || is_last_; });
        next = computed_;
      }
      if (next == done) return;
      if (status_.ok()) status_ = download(done, next);
      done = next;
    }
  }

  Status download(int64_t from, int64_t to) const {
    for (const ChunkedArray& array : run_.arrays_) {
      if (!array.is_output) continue;
      const int64_t begin = array.reach(from), bytes = array.reach(to) - begin;
      ACCEL_TRY([[maybe_unused]] Unit copied, run_.device_->download(array.host + begin, array.device + begin, bytes));
    }
    return Unit{};
  }

  const ChunkedRun& run_;
  const CudaStream stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t computed_ = 0;
  bool is_last_ = false;
  Status status_ = Unit{};
  std::thread thread_;
};

Status ChunkedRun::upload(int64_t from, int64_t to) const {
  for (const ChunkedArray& array : arrays_) {
    if (array.is_output) continue;
    const int64_t begin = array.reach(from), bytes = array.reach(to) - begin;
    if (bytes <= 0) continue;  // the parts before have all of it
    ACCEL_TRY([[maybe_unused]] Unit copied, device_->upload(array.device + begin, array.host + begin, bytes));
  }
  return Unit{};
}

// The kernel for some iterations: addresses are moved on to those of the first one.
Status ChunkedRun::launch(const DeviceKernels& kernels, int number, LaunchShape shape, void** arguments, int64_t from,
                          int64_t to) const {
  const std::vector<BufferId>& buffers = plan_->buffers[static_cast<size_t>(number)];
  std::vector<void*> own(arguments, arguments + buffers.size());
  std::vector<char*> addresses(buffers.size());
  int64_t items = *static_cast<const int64_t*>(arguments[0]) / iterations_ * (to - from);
  own[0] = &items;
  for (size_t k = 0; k < buffers.size(); ++k) {
    const auto found = std::ranges::find(arrays_, buffers[k], &ChunkedArray::buffer);
    if (buffers[k] < 0 || found == arrays_.end()) continue;
    addresses[k] = *static_cast<char**>(arguments[k]) + from * found->step;
    own[k] = &addresses[k];
  }
  // Blocks without items end at once.
  shape.blocks = std::min(
      shape.blocks, shape.blocks / iterations_ * (to - from) + (shape.blocks % iterations_ * (to - from)) / iterations_ + 2);
  return kernels.launch(number, shape, own.data());
}

Status ChunkedRun::run(const DeviceKernels& kernels, int number, const LaunchShape& shape, void** arguments) {
  ACCEL_TRY(const CudaStream stream, device_->download_stream());
  Downloads downloads(*this, stream);
  for (int64_t k = 0; k < parts_; ++k) {
    const int64_t from = iterations_ * k / parts_, to = iterations_ * (k + 1) / parts_;
    ACCEL_TRY([[maybe_unused]] Unit done, without_gil([&] { return upload(from, to); }));
    ACCEL_TRY(done, launch(kernels, number, shape, arguments, from, to));
    ACCEL_TRY(done, downloads.add(to));
  }
  return without_gil([&] { return downloads.finish(); });
}

}  // namespace accel
