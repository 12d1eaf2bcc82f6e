#pragma once
// Natural loops of a graph's control flow.

#include <set>
#include <vector>

#include "ir/analysis/flow.h"

namespace accel {

struct NaturalLoop {
  BlockId header = 0;
  std::set<BlockId> blocks;      // header included
  std::vector<BlockId> latches;  // blocks that jump back to the header
};

// Outer loops before inner ones. Loops of one header are one.
std::vector<NaturalLoop> natural_loops(const Graph& graph, const Dominance& dominance);

// The closest block that dominates b and is not b; -1 for the entry.
BlockId immediate_dominator(const Graph& graph, const Dominance& dominance, BlockId b);

}  // namespace accel
