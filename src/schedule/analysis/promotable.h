#pragma once
// Elements that a loop reads and writes at the same places all the time.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/analysis/loops.h"
#include "ir/edit.h"

namespace accel {

// An array that a loop hands round, of which it writes the same elements, and no other ones, in each iteration.
struct PromotableElements {
  ValueId param = no_value;         // of the header: the array
  ValueId start = no_value;         // the array in front of the loop
  GraphEdge entry;                  // the one into the loop
  std::set<ValueId> versions;       // of the array, in the loop
  std::map<BlockId, ValueId> end;   // by block of the loop: the version that it ends with
  std::vector<NodeId> stores;       // by element: one of those to it
  std::map<ValueId, size_t> views;  // of versions, on an element: its number
};

// nullopt where the loop does more than to compute numbers and to read and write single elements, where it is not sure that the
// elements are there before the loop, and that they and whatever else it reads of the array are different ones. Adds dims to
// the graph.
std::optional<PromotableElements> promotable_elements(Graph& graph, const NaturalLoop& loop);

}  // namespace accel
