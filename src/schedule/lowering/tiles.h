#pragma once
// Lowering of tiles, row memory and calls of NumPy's inner loops.

#include <optional>
#include <vector>

#include "schedule/lowering/lowering.h"

namespace accel {

class TileLowering {
 public:
  explicit TileLowering(Lowering& lowering)
      : lowering_(lowering), graph_(lowering.graph()), placement_(lowering.placement()), dims_(lowering.dims()) {}

  // Creates memory for a tile of `extent` elements and returns the address of element `variable`.
  Address new_tile(DType dtype, Dim variable, Dim extent);
  // The element of a value that NumPy's inner loop computes.
  TempId call_at(ValueId v, const Node& node, const Index& index);
  // The element of a value that is computed into a tile, once for all loops over the tile.
  TempId tiled_at(ValueId v, const Index& index);
  // Calls NumPy's inner loop for the elements of a tile, which go to `destination` if it is not null.
  Address call_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent, const Address* destination);
  // The element of a value in row memory, which is filled in the scope where the row begins.
  std::optional<Address> row_at(ValueId v, const Index& index);

 private:
  // Operand v of the call for `node`: in a tile or read from memory with a stride.
  CallOperand call_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);
  void fill_tile(const Address& tile, ValueId v, const Index& index, Dim variable, Dim extent);
  bool may_walk_backwards(Dim stride);
  CallOperand copied_operand(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent);
  BufferId fill_row(ValueId v, const Index& index, const std::vector<int>& axes);

  Lowering& lowering_;
  const Graph& graph_;
  const Placement& placement_;
  DimTable& dims_;
};

}  // namespace accel
