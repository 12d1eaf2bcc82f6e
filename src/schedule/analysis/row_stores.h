#pragma once
// Stores whose values read memory that they overwrite, such as in-place stencils, and whether they can go row by row. A row is
// an index along the slowest axis of the stored values.

#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace accel {

struct RowStores {
  std::vector<NodeId> stores;  // their values have one rank and axis order; each has its own base
  int64_t before = 0;          // a row of the values reads stored memory this many rows before its own
  int64_t after = 0;           // and this many rows after it
  // Whether an element may be stored as soon as it is computed: of the stored memory, it reads only the element it replaces and
  // elements that are read once for the row or for all rows.
  bool direct = true;
  bool own_elements = true;     // whether it reads no element per row either
  std::vector<ValueId> copied;  // views of stored memory that all rows read: copied before the first store
  // When the values have several shapes, per store: the axis of the base that the rows run along. No store then reads what
  // another one overwrites, and rows with the same index in their bases are stored together. Empty: all values have one shape.
  std::vector<size_t> row_axes;
};

// nullopt when storing by rows is incorrect or does not pay. The caller has checked that the values can be computed before any
// of the stores. `in_memory`: values that are read from memory, not computed by this code.
std::optional<RowStores> row_stores(const Graph& graph, const std::vector<NodeId>& stores,
                                    const std::function<bool(ValueId)>& in_memory);

}  // namespace accel
