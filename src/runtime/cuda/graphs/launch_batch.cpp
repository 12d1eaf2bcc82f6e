#include "runtime/cuda/graphs/launch_batch.h"

#include <algorithm>

#include "runtime/cuda/device_parts.h"

namespace accel {
namespace {

// The stream gets this many launches at once at most: the device should not wait for long.
constexpr size_t most_launches = 128;
// Fewer are not worth a graph.
constexpr size_t least_launches = 2;
constexpr int64_t much_memory = int64_t{256} << 20;

}  // namespace

std::vector<std::unique_ptr<LaunchBatch>>& LaunchBatch::unused() {
  static thread_local std::vector<std::unique_ptr<LaunchBatch>> batches;
  return batches;
}

std::unique_ptr<LaunchBatch> LaunchBatch::take(const Target& target) {
  std::unique_ptr<LaunchBatch> taken;
  if (unused().empty()) {
    taken = std::make_unique<LaunchBatch>();
  } else {
    taken = std::move(unused().back());
    unused().pop_back();
  }
  taken->target_ = target;
  return taken;
}

void LaunchBatch::give_back(std::unique_ptr<LaunchBatch> batch) {
  batch->list_.clear();
  batch->release_deferred();
  batch->failure_.reset();
  unused().push_back(std::move(batch));
}

// Launches. --------------------------------------------------------------------------------------------------------------

Status LaunchBatch::add(CudaFunction function, const ParameterLayout& layout, const LaunchShape& shape,
                        void* const* arguments) {
  if (list_.size() == most_launches) (void)submit();
  if (failure_) return *failure_;
  list_.add(function, layout, shape, arguments);
  return Unit{};
}

Status LaunchBatch::submit() {
  if (list_.size() > 0 && !failure_) give_to_stream();
  list_.clear();
  release_deferred();
  return failure_ ? Status(*failure_) : Status(Unit{});
}

void LaunchBatch::give_to_stream() {
  const auto count = static_cast<int64_t>(list_.size());
  target_.counters->launches.fetch_add(count, std::memory_order_relaxed);
  if (list_.size() >= least_launches && target_.graphs->launch(list_, target_.stream)) {
    target_.counters->graphs.fetch_add(1, std::memory_order_relaxed);
    target_.counters->graph_launches.fetch_add(count, std::memory_order_relaxed);
    return;
  }
  const Status launched = list_.launch(*target_.context->driver, target_.stream);
  if (!launched.ok()) failure_ = launched.failure();
}

// Memory. ----------------------------------------------------------------------------------------------------------------

void LaunchBatch::defer_release(char* memory) {
  const int64_t bytes = target_.pool->bytes_for(memory, target_.stream);
  deferred_.push_back({memory, bytes});
  deferred_bytes_ += bytes;
}

char* LaunchBatch::reuse_deferred(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 1);
  for (size_t k = deferred_.size(); k-- > 0;) {
    const Deferred found = deferred_[k];
    if (found.bytes < bytes || found.bytes - bytes > found.bytes / 8 + 256) continue;
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(k));
    deferred_bytes_ -= found.bytes;
    return found.memory;
  }
  return nullptr;
}

bool LaunchBatch::defers_much() const { return deferred_bytes_ > much_memory; }

void LaunchBatch::release_deferred() {
  for (const Deferred& deferred : deferred_) target_.pool->release(deferred.memory, target_.stream);
  deferred_.clear();
  deferred_bytes_ = 0;
}

// The scope. -------------------------------------------------------------------------------------------------------------

LaunchScope::LaunchScope(CudaDevice& device, LaunchGraphs* graphs)
    : device_(device), before_(current_batches[device.number()]) {
  if (before_ != nullptr) (void)device.submit();  // its failure is that of all later calls
  auto& parts = *device.parts_;
  if (graphs != nullptr)
    batch_ = LaunchBatch::take({&parts.context, &parts.pool, &parts.launch_counters, graphs, parts.stream()});
  current_batches[device.number()] = batch_.get();
}

LaunchScope::~LaunchScope() {
  current_batches[device_.number()] = before_;
  if (batch_ != nullptr) LaunchBatch::give_back(std::move(batch_));
}

std::shared_ptr<LaunchGraphs> new_launch_graphs(const CudaDevice& device) {
  return device.context().driver->has_graphs() ? std::make_shared<LaunchGraphs>(device.context()) : nullptr;
}

}  // namespace accel
