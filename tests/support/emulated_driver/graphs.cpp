// Graphs of kernels: nodes, executable copies of them, and their launches.

#include <algorithm>
#include <set>
#include <utility>

#include "calls.h"

using namespace emulated;

namespace emulated {

struct GraphNode;

// What a kernel node does.
struct NodeWork {
  Launch launch;
  std::shared_ptr<Arguments> arguments;
  std::vector<size_t> before;  // numbers of the nodes that it comes after
};

struct Graph {
  std::vector<GraphNode*> nodes;
};

struct GraphNode {
  Graph* graph;
  size_t number;
  NodeWork work;
};

struct GraphExecutable {
  const Graph* graph;
  std::vector<NodeWork> nodes;
  std::shared_ptr<Mark> last;  // of its last launch
};

namespace {

// CUDA_KERNEL_NODE_PARAMS.
struct NodeParameters {
  Function* function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void **arguments, **extra;
  void *kernel, *context;
};

std::set<const Graph*> graphs;
std::set<const GraphExecutable*> executables;

int read_parameters(const NodeParameters& from, NodeWork& to) {
  to.launch = {
      from.function, {from.grid_x, from.grid_y, from.grid_z}, {from.block_x, from.block_y, from.block_z}, from.shared_bytes};
  if (int code = check_launch(to.launch)) return code;
  to.arguments = std::make_shared<Arguments>(copy_arguments(*from.function->kernel, from.arguments));
  return success;
}

// Runs nodes whose predecessors have run, in the order that the options say.
int run_nodes(const std::vector<NodeWork>& nodes) {
  auto& e = emulator();
  std::vector<bool> is_done(nodes.size());
  for (size_t count = 0; count < nodes.size(); ++count) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes.size(); ++i) {
      auto done = [&](size_t before) { return is_done[before]; };
      if (!is_done[i] && std::all_of(nodes[i].before.begin(), nodes[i].before.end(), done)) ready.push_back(i);
    }
    const size_t chosen = e.options.order == 0 ? 0 : e.options.order == 1 ? ready.size() - 1 : e.random() % ready.size();
    const NodeWork& node = nodes[ready[chosen]];
    is_done[ready[chosen]] = true;
    if (int code = run_kernel(node.launch, *node.arguments)) return code;
  }
  return success;
}

}  // namespace
}  // namespace emulated

DRIVER_FUNCTION cuGraphCreate(Graph** graph, unsigned flags) {
  BEGIN_CALL;
  if (flags != 0) return say(invalid_value, "flags of a graph");
  graphs.insert(*graph = new Graph);
  return success;
}

DRIVER_FUNCTION cuGraphDestroy(Graph* graph) {
  BEGIN_CALL;
  if (graphs.erase(graph) == 0) return say(invalid_value, "not a graph");
  for (GraphNode* node : graph->nodes) delete node;
  delete graph;
  return success;
}

DRIVER_FUNCTION cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph, GraphNode* const* before, size_t count,
                                        const NodeParameters* parameters) {
  BEGIN_CALL;
  if (!graphs.contains(graph)) return say(invalid_value, "not a graph");
  NodeWork work;
  if (int code = read_parameters(*parameters, work)) return code;
  for (size_t i = 0; i < count; ++i) {
    if (before[i]->graph != graph) return say(invalid_value, "a node of another graph");
    work.before.push_back(before[i]->number);
  }
  *node = new GraphNode{graph, graph->nodes.size(), std::move(work)};
  graph->nodes.push_back(*node);
  return success;
}

DRIVER_FUNCTION cuGraphInstantiateWithFlags(GraphExecutable** executable, Graph* graph, unsigned long long flags) {
  BEGIN_CALL;
  if (!graphs.contains(graph)) return say(invalid_value, "not a graph");
  if (flags != 0) return say(invalid_value, "flags of an executable graph");
  *executable = new GraphExecutable{graph, {}, nullptr};
  for (const GraphNode* node : graph->nodes) (*executable)->nodes.push_back(node->work);
  executables.insert(*executable);
  return success;
}

// Launches that are in flight have a copy of the nodes.
DRIVER_FUNCTION cuGraphExecDestroy(GraphExecutable* executable) {
  BEGIN_CALL;
  if (executables.erase(executable) == 0) return say(invalid_value, "not an executable graph");
  delete executable;
  return success;
}

DRIVER_FUNCTION cuGraphExecKernelNodeSetParams_v2(GraphExecutable* executable, GraphNode* node,
                                                  const NodeParameters* parameters) {
  BEGIN_CALL;
  if (!executables.contains(executable)) return say(invalid_value, "not an executable graph");
  if (!graphs.contains(executable->graph)) return say(invalid_value, "the graph of the node has been destroyed");
  if (node->graph != executable->graph) return say(invalid_value, "a node of another graph");
  return read_parameters(*parameters, executable->nodes[node->number]);
}

// A launch comes after what the stream has, and after the last launch of the same executable graph.
DRIVER_FUNCTION cuGraphLaunch(GraphExecutable* executable, Stream* stream) {
  BEGIN_CALL;
  if (!has_context()) return say(no_context, "no context is current");
  if (!executables.contains(executable)) return say(invalid_value, "not an executable graph");
  auto mark = std::make_shared<Mark>(Mark{stream_of(stream)});
  return enqueue(stream, [before = std::exchange(executable->last, mark), mark, nodes = executable->nodes] {
    if (int code = finish(before)) return code;
    const int code = run_nodes(nodes);
    mark->is_done = true;
    return code;
  });
}
