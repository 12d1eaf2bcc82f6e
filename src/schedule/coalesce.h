#pragma once
// Which axes can be walked as one: their addresses advance evenly in every operand.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "schedule/placement.h"

namespace accel {

// Byte strides of a value that is a chain of views on an input or on memory of its own, per axis; nullopt when
// an index is not linear in the axes.
struct StridedView {
  ValueId base = no_value;
  std::vector<Dim> strides;
  Dim offset;
};
std::optional<StridedView> strided_view(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v);

// Whether axes[0..] (slowest first) of v can be walked as one axis with the strides of the last: true of every memory operand of v's inline computation.
bool coalesces(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v, const std::vector<int>& axes);

}  // namespace accel
