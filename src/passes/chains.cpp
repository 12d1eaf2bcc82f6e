// Joins a block with the one it jumps to when nothing else leads there. A graph with control flow keeps two blocks: callers
// provide the results of graphs of one block before the call, and have decided which it is from the captured graph.

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr size_t fewest_blocks = 2;  // of a graph with control flow

class Chains {
 public:
  explicit Chains(Graph& graph) : graph_(graph), replacement_(no_replacement(graph)), gone_(graph.blocks.size(), false) {}

  bool run() {
    std::vector<std::vector<BlockId>> before = predecessors(graph_);
    bool changed = false;
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      while (!gone_[static_cast<size_t>(b)] && left_ > fewest_blocks) {
        const Terminator& t = block(b).terminator;
        if (t.kind != TerminatorKind::jump || t.targets[0] == b || t.targets[0] == 0) break;
        if (before[static_cast<size_t>(t.targets[0])].size() != 1 || !preserves_types(t)) break;
        join(b, t.targets[0]);
        changed = true;
      }
    }
    if (!changed) return false;
    replace_uses(graph_, replacement_);
    remove_blocks(graph_, gone_);
    return true;
  }

 private:
  // Whether the parameters have the types of their arguments: an extent may have another name in the target block.
  bool preserves_types(const Terminator& jump) const {
    const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(jump.targets[0])].params;
    for (size_t k = 0; k < params.size(); ++k)
      if (graph_.type(params[k]) != graph_.type(jump.target_arguments[0][k])) return false;
    return true;
  }

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }

  void join(BlockId first, BlockId second) {
    Block& to = block(first);
    Block from = std::move(block(second));
    for (size_t k = 0; k < from.params.size(); ++k)
      replacement_[static_cast<size_t>(from.params[k])] = to.terminator.target_arguments[0][k];
    for (NodeId n : from.nodes) {
      to.nodes.push_back(n);
      for (ValueId v : graph_.nodes[static_cast<size_t>(n)].results) graph_.values[static_cast<size_t>(v)].block = first;
    }
    to.terminator = std::move(from.terminator);
    block(second) = Block{};
    gone_[static_cast<size_t>(second)] = true;
    --left_;
  }

  Graph& graph_;
  std::vector<ValueId> replacement_;
  std::vector<bool> gone_;
  size_t left_ = graph_.blocks.size();
};

}  // namespace

bool chains(Graph& graph) { return graph.blocks.size() > 1 && Chains(graph).run(); }

}  // namespace accel
