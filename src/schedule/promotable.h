#pragma once
// Elements that a loop reads and writes at one place all the time.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/edit.h"
#include "ir/loops.h"

namespace accel {

// An array that a loop hands round, of which it writes the same element in each iteration.
struct PromotableElement {
  ValueId param = no_value;        // of the header: the array
  ValueId start = no_value;        // the array in front of the loop
  GraphEdge entry;                 // the one into the loop
  std::set<ValueId> versions;      // of the array, in the loop
  std::set<ValueId> views;         // of versions, on the element
  NodeId store = -1;               // one of those to the element
  std::map<BlockId, ValueId> end;  // by block of the loop: the version that it ends with
};

// nullopt where the loop does more than to compute numbers and to read and write single elements, where it is not sure that the
// element is there before the loop, or that whatever else the loop reads of the array is another one. Adds dims to the graph.
std::optional<PromotableElement> promotable_element(Graph& graph, const NaturalLoop& loop);

}  // namespace accel
