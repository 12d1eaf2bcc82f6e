#pragma once
// One executable CUDA graph: a chain of kernels, whose parameters and grids may be others in each launch.

#include <memory>

#include "runtime/cuda/context.h"
#include "runtime/cuda/graphs/launch_list.h"

namespace accel {

// All functions but the destructor require that the context is current.
class LaunchGraph {
 public:
  static Result<std::unique_ptr<LaunchGraph>> make(const CudaContext& context, LaunchList& list);
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  bool fits(const LaunchList& list) const { return list.has_kernels_of(launches_); }
  // Gives the stream the launches of `list`, which it fits. Takes them out of the list when it succeeds; where it fails the
  // stream has none of them, and the graph is of no further use.
  Status launch(LaunchList& list, CudaStream stream);

 private:
  explicit LaunchGraph(const CudaContext& context) : context_(context) {}
  Status add_nodes(LaunchList& list);

  const CudaContext& context_;
  CudaGraph graph_ = nullptr;  // lives as long as its nodes are named
  CudaExecutableGraph executable_ = nullptr;
  std::vector<CudaGraphNode> nodes_;
  LaunchList launches_;  // that the executable graph has now
};

}  // namespace accel
