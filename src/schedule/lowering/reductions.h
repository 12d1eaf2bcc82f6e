#pragma once
// Reductions, in NumPy's order of operations.

#include <vector>

#include "schedule/lowering/lowering.h"

namespace accel {

class ReductionLowering {
 public:
  explicit ReductionLowering(Lowering& lowering)
      : lowering_(lowering), graph_(lowering.graph()), placement_(lowering.placement()), dims_(lowering.dims()) {}

  TempId reduction_at(ValueId v, const Node& node, const Index& index);
  // Reduces the rows of a tile of columns into a new tile; the address of its element `variable`.
  Address column_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);

 private:
  Index operand_index(const Node& node, const Index& index, Dim reduced_value) const;
  TempId start_of(ValueId v, const Node& node, const Index& operand_index);
  Dim run_extent(const Node& node, const std::vector<int>& axes);
  TempId plan_at(ValueId v, const Node& node, const Index& index);
  TempId add_to(ValueId v, TempId total, TempId piece);
  TempId runs_at(ValueId v, const Node& node, const Index& index);
  TempId pieces_at(ValueId v, const Node& node, const Index& index, TempId total);
  TempId piece_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId masked_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId tree_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, int64_t chunk);
  TempId combined_at(ValueId v, const Node& node, const Index& index, TempId total);
  TempId half_product_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total);
  TempId fold_at(ValueId v, const Node& node, const Index& index);
  TempId sequential_at(ValueId v, const Node& node, const Index& index, const std::vector<int>& axes);
  TempId argreduce_at(ValueId v, const Node& node, const Index& index);

  Lowering& lowering_;
  const Graph& graph_;
  const Placement& placement_;
  DimTable& dims_;
};

}  // namespace accel
