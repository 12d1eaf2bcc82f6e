#pragma once
// The direction in which NumPy's iterator walks an operand of a ufunc: it passes negative strides to the inner loop, or copies
// the operand into a buffer first. Some inner loops give other bits for negative strides.

#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/place.h"

namespace accel {

// 1 where NumPy calls the inner loop of `node` with a negative stride for `operand`, else 0. NumPy buffers an operand that has
// no single stride, unless its inner axes alone are long.
Dim walked_backwards(DimTable& dims, const Graph& graph, const std::vector<Place>& places, const Node& node, ValueId operand);

}  // namespace accel
