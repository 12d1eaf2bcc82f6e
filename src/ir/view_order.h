#pragma once
// The memory order (Type::order) of a view, from its operand's. Results are complete (never empty for rank > 0).

#include <vector>

#include "ir/graph.h"

namespace accel {

std::vector<uint8_t> transposed_order(const Type& from, const std::vector<int>& axes);
// A new axis lies just outside the axis that follows it; memory is the same wherever an axis of extent 1 is put.
std::vector<uint8_t> expanded_order(const Type& from, const std::vector<int>& axes);
// Without the axes (squeezed or reduced).
std::vector<uint8_t> order_without(const Type& from, const std::vector<int>& axes);
// New leading axes are the slowest ones.
std::vector<uint8_t> broadcast_order(const Type& from, int rank);
// Axes of a reshape that hold the same elements: the smallest groups, both sides ascending. Axes of extent 1 are left out.
struct ReshapeGroup {
  std::vector<uint8_t> from;
  std::vector<uint8_t> to;
};
std::vector<ReshapeGroup> reshape_groups(DimTable& dims, const std::vector<Dim>& from, const std::vector<Dim>& to);
// As NumPy's reshape: a view where groups of adjacent axes merge or split, else (a copy) C order.
std::vector<uint8_t> reshaped_order(DimTable& dims, const Type& from, const std::vector<Dim>& shape);

}  // namespace accel
