#pragma once
// Stores whose values need what they overwrite, and the rows that they can be computed and stored by: a row is what the slowest
// axis of the values counts.

#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace accel {

struct RowStores {
  std::vector<NodeId> stores;  // to values of one rank and order, each to memory of its own
  int64_t before = 0;          // rows of what is stored to that a row of the values needs: so many before its own,
  int64_t after = 0;           // and so many after it
  // Of what is stored to, an element of the values needs none but the one that it replaces, and those that are read once for
  // its row or for all rows: it is stored as soon as it is computed.
  bool direct = true;
  bool own_elements = true;     // nor those that are read once for its row
  std::vector<ValueId> copied;  // parts of what is stored to that all rows need: to be copied before the first store
  // Of values of several shapes, per store: the axis of the base that the rows run over. No store needs anything that another
  // one overwrites, and rows of different values at one index of their bases are stored together. Empty: all have one shape.
  std::vector<size_t> row_axes;
};

// nullopt when rows are no order that works, or none that pays. The stores run after all of what they store is computed, as
// the caller has checked. `in_memory`: values that are read, not computed here.
std::optional<RowStores> row_stores(const Graph& graph, const std::vector<NodeId>& stores,
                                    const std::function<bool(ValueId)>& in_memory);

}  // namespace accel
