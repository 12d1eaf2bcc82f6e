// Return tail duplication: paths that join only to return return by themselves, so that each computes in the memory of the
// result.

#include <algorithm>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

// What the block returns when control comes with these arguments; nothing where a type has another name there.
std::optional<std::vector<ValueId>> returned_with(const Graph& graph, const Block& block,
                                                  const std::vector<ValueId>& arguments) {
  std::vector<ValueId> returned;
  for (ValueId v : block.terminator.operands) {
    auto param = std::find(block.params.begin(), block.params.end(), v);
    if (param != block.params.end()) {
      ValueId argument = arguments[static_cast<size_t>(param - block.params.begin())];
      if (graph.type(argument) != graph.type(v)) return std::nullopt;
      v = argument;
    }
    returned.push_back(v);
  }
  return returned;
}

bool only_returns(const Block& block) {
  return block.nodes.empty() && !block.params.empty() && block.terminator.kind == TerminatorKind::ret;
}

}  // namespace

bool returns(Graph& graph) {
  std::vector<bool> gone(graph.blocks.size(), false);
  const std::vector<std::vector<BlockId>> before = predecessors(graph);
  bool changed = false;
  for (size_t b = 1; b < graph.blocks.size(); ++b) {
    if (!only_returns(graph.blocks[b]) || before[b].size() < 2) continue;
    gone[b] = true;
    for (BlockId from : before[b]) {
      Terminator& jump = graph.blocks[static_cast<size_t>(from)].terminator;
      auto returned =
          jump.kind == TerminatorKind::jump ? returned_with(graph, graph.blocks[b], jump.target_arguments[0]) : std::nullopt;
      if (!returned) {
        gone[b] = false;
        continue;
      }
      const int exit = graph.blocks[b].terminator.exit;
      jump = Terminator();
      jump.operands = std::move(*returned);
      jump.exit = exit;
      changed = true;
    }
  }
  if (std::find(gone.begin(), gone.end(), true) != gone.end()) remove_blocks(graph, gone);
  return changed;
}

}  // namespace accel
