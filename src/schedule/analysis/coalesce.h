#pragma once
// Which axes can be walked as one: their addresses advance evenly in every operand.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/place.h"

namespace accel {

// Byte strides of an input's or a root's own memory.
std::vector<Dim> memory_strides_of(DimTable& dims, const Graph& graph, ValueId v);

// Where element `index` of v lies: v seen through its views as an element of an input, a root or a row.
struct MemoryPosition {
  ValueId base = no_value;
  Index index;  // into base; empty when the offset was found without it
  Dim offset;   // bytes from the start of base's memory (base a row: from the bytes of its own dense memory)
};
std::optional<MemoryPosition> memory_position(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v,
                                              Index index);

// Byte strides of a value that is a chain of views on an input or on memory of its own, per axis; nullopt when
// an index is not linear in the axes.
struct StridedView {
  ValueId base = no_value;
  std::vector<Dim> strides;
  Dim offset;
};
std::optional<StridedView> strided_view(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v);

// Whether axes[0..] (slowest first) of v can be walked as one axis with the strides of the last: true of every memory operand
// of v's inline computation.
bool coalesces(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v, const std::vector<int>& axes);

}  // namespace accel
