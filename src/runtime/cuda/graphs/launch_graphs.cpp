#include "runtime/cuda/graphs/launch_graphs.h"

#include <algorithm>

namespace accel {
namespace {

constexpr size_t most_graphs = 16, most_seen = 64;
// A full cache replaces a graph that none of this many submissions has used: making a graph costs more than launching its
// kernels one by one.
constexpr int64_t uses_of_idle = 1000;

}  // namespace

bool LaunchGraphs::launch(LaunchList& list, CudaStream stream) {
  std::lock_guard lock(mutex_);
  ++uses_;
  CachedGraph* cached = find(list);
  if (cached == nullptr && is_known(list.hash())) cached = add(list);
  if (cached == nullptr || cached->graph == nullptr) return false;
  cached->last_use = uses_;
  const bool is_launched = cached->graph->launch(list, stream).ok();
  if (!is_launched) cached->graph.reset();
  return is_launched;
}

LaunchGraphs::CachedGraph* LaunchGraphs::find(const LaunchList& list) {
  auto fits = [&](const CachedGraph& cached) {
    return cached.hash == list.hash() && (cached.graph == nullptr || cached.graph->fits(list));
  };
  auto found = std::find_if(cached_.begin(), cached_.end(), fits);
  return found != cached_.end() ? &*found : nullptr;
}

// Whether such a list was launched before; notes that it was.
bool LaunchGraphs::is_known(uint64_t hash) {
  if (std::find(seen_.begin(), seen_.end(), hash) != seen_.end()) return true;
  if (seen_.size() < most_seen)
    seen_.push_back(hash);
  else
    seen_[next_seen_++ % most_seen] = hash;
  return false;
}

LaunchGraphs::CachedGraph* LaunchGraphs::add(LaunchList& list) {
  CachedGraph* entry = nullptr;
  if (cached_.size() < most_graphs) {
    entry = &cached_.emplace_back();
  } else {
    entry = &*std::min_element(cached_.begin(), cached_.end(),
                               [](const CachedGraph& a, const CachedGraph& b) { return a.last_use < b.last_use; });
    if (uses_ - entry->last_use < uses_of_idle) return nullptr;
  }
  *entry = {list.hash(), nullptr, uses_};
  Result<std::unique_ptr<LaunchGraph>> made = LaunchGraph::make(context_, list);
  if (made.ok()) entry->graph = std::move(made).value();
  return entry;
}

}  // namespace accel
