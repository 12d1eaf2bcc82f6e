#pragma once
// Which array elements can be promoted to scalars: those at addresses that do not change while a loop runs.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/analysis/loops.h"
#include "ir/edit.h"

namespace accel {

// An array that a loop passes from iteration to iteration and stores to at fixed indices alone.
struct PromotableElements {
  ValueId param = no_value;         // the header's parameter for the array
  ValueId start = no_value;         // its argument on the edge into the loop
  GraphEdge entry;                  // edge into the loop
  std::set<ValueId> versions;       // values of the array inside the loop
  std::map<BlockId, ValueId> end;   // by block of the loop: the array's value at the end of the block
  std::vector<NodeId> stores;       // by element: one store to it
  std::map<ValueId, size_t> views;  // views of one element: the element's number
};

// nullopt unless the loop only computes numbers and accesses single elements, the stored elements exist before the loop, and
// they are provably distinct from each other and from all other elements that the loop reads. Adds dims to the graph.
std::optional<PromotableElements> promotable_elements(Graph& graph, const NaturalLoop& loop);

}  // namespace accel
