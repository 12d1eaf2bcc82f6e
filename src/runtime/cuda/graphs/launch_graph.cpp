#include "runtime/cuda/graphs/launch_graph.h"

#include <utility>

namespace accel {

Result<std::unique_ptr<LaunchGraph>> LaunchGraph::make(const CudaContext& context, LaunchList& list) {
  std::unique_ptr<LaunchGraph> made(new LaunchGraph(context));
  ACCEL_CUDA(*context.driver, cuGraphCreate, &made->graph_, 0);
  ACCEL_TRY([[maybe_unused]] Unit added, made->add_nodes(list));
  ACCEL_CUDA(*context.driver, cuGraphInstantiate, &made->executable_, made->graph_, 0);
  made->launches_ = list;
  return made;
}

// Each kernel comes after the one before it.
Status LaunchGraph::add_nodes(LaunchList& list) {
  nodes_.reserve(list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    const CudaKernelNode parameters = list.node(k);
    CudaGraphNode node = nullptr;
    ACCEL_CUDA(*context_.driver, cuGraphAddKernelNode, &node, graph_, k > 0 ? &nodes_.back() : nullptr, k > 0 ? 1 : 0,
               &parameters);
    nodes_.push_back(node);
  }
  return Unit{};
}

LaunchGraph::~LaunchGraph() {
  ActiveContext active(context_);
  if (!active.ok()) return;
  if (executable_ != nullptr) context_.driver->cuGraphExecDestroy(executable_);  // launches of it go on
  if (graph_ != nullptr) context_.driver->cuGraphDestroy(graph_);
}

// Launches that the stream has got before keep the values that they had.
Status LaunchGraph::launch(LaunchList& list, CudaStream stream) {
  for (size_t k = 0; k < list.size(); ++k) {
    if (list.is_same(k, launches_)) continue;
    const CudaKernelNode parameters = list.node(k);
    ACCEL_CUDA(*context_.driver, cuGraphExecKernelNodeSetParams, executable_, nodes_[k], &parameters);
  }
  ACCEL_CUDA(*context_.driver, cuGraphLaunch, executable_, stream);
  std::swap(launches_, list);
  return Unit{};
}

}  // namespace accel
