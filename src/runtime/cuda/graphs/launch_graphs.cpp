#include "runtime/cuda/graphs/launch_graphs.h"

#include <algorithm>

namespace accel {
namespace {

constexpr size_t most_graphs = 16, most_seen = 64;
// A graph is replaced by another one when this many launches of graphs have gone without it: to make one takes as long as some
// hundred launches.
constexpr int64_t uses_of_idle = 1000;

}  // namespace

bool LaunchGraphs::launch(LaunchList& list, CudaStream stream) {
  std::lock_guard lock(mutex_);
  ++uses_;
  Kept* kept = find(list);
  if (kept == nullptr && is_known(list.hash())) kept = add(list);
  if (kept == nullptr || kept->graph == nullptr) return false;
  kept->last_use = uses_;
  const bool is_launched = kept->graph->launch(list, stream).ok();
  if (!is_launched) kept->graph.reset();
  return is_launched;
}

LaunchGraphs::Kept* LaunchGraphs::find(const LaunchList& list) {
  auto fits = [&](const Kept& kept) { return kept.hash == list.hash() && (kept.graph == nullptr || kept.graph->fits(list)); };
  auto found = std::find_if(kept_.begin(), kept_.end(), fits);
  return found != kept_.end() ? &*found : nullptr;
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

LaunchGraphs::Kept* LaunchGraphs::add(LaunchList& list) {
  Kept* place = nullptr;
  if (kept_.size() < most_graphs) {
    place = &kept_.emplace_back();
  } else {
    place =
        &*std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; });
    if (uses_ - place->last_use < uses_of_idle) return nullptr;
  }
  *place = {list.hash(), nullptr, uses_};
  Result<std::unique_ptr<LaunchGraph>> made = LaunchGraph::make(context_, list);
  if (made.ok()) place->graph = std::move(made).value();
  return place;
}

}  // namespace accel
