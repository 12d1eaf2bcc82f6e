#pragma once
// Loop invariants: what a loop computes again in each iteration though the value does not change.

#include <map>
#include <set>
#include <vector>

#include "ir/analysis/loops.h"

namespace accel {

struct Invariants {
  // Nodes that each full iteration computes, from what is outside the loop or from each other, in program order. They can be
  // computed before the loop, even if it then has no iteration: none has an effect, raises an exception, or relies on a check
  // that the loop makes first.
  std::vector<NodeId> nodes;
  std::set<NodeId> set;                 // the nodes, for lookup
  std::map<ValueId, ValueId> computed;  // their results that a block before the loop has computed already
};

Invariants find_invariants(const Graph& graph, const Dominance& dominance, const NaturalLoop& loop);

}  // namespace accel
