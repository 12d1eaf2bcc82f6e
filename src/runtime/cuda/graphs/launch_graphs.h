#pragma once
// The CUDA graphs of one program: one for each sequence of kernels that it has launched twice. Functions may be called from
// several threads.

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/graphs/launch_graph.h"

namespace accel {

class LaunchGraphs {
 public:
  explicit LaunchGraphs(const CudaContext& context) : context_(context) {}
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;

  // Gives the stream the launches of `list` as one graph, and takes them out of it. False: the stream has none of them, as
  // their kernels are launched for the first time in this order, or as the driver has failed. Requires that the context is
  // current.
  bool launch(LaunchList& list, CudaStream stream);

 private:
  struct CachedGraph {
    uint64_t hash = 0;                   // of its kernels
    std::unique_ptr<LaunchGraph> graph;  // null: the driver makes none
    int64_t last_use = 0;
  };

  CachedGraph* find(const LaunchList& list);
  bool is_known(uint64_t hash);
  CachedGraph* add(LaunchList& list);

  const CudaContext& context_;
  std::mutex mutex_;
  std::vector<CachedGraph> cached_;
  std::vector<uint64_t> seen_;  // sequences that were launched without a graph, in the order of their first launches
  size_t next_seen_ = 0;
  int64_t uses_ = 0;
};

}  // namespace accel
