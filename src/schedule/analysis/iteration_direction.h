#pragma once
// Which way NumPy's iterator walks an operand of a ufunc: it hands negative strides to the inner loop, or copies forwards.

#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/place.h"

namespace accel {

// 1 where NumPy calls the inner loop of `node` with a negative stride for `operand`, 0 where it does not: it buffers an operand
// that has no single stride, unless the inner axes by themselves are long.
Dim walked_backwards(DimTable& dims, const Graph& graph, const std::vector<Place>& places, const Node& node, ValueId operand);

}  // namespace accel
