#pragma once
// Coalescing: consecutive axes can be walked as one loop when every memory operand advances evenly over them.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/place.h"

namespace accel {

// Byte strides of the memory that v, an input or a root, has itself.
std::vector<Dim> memory_strides_of(DimTable& dims, const Graph& graph, ValueId v);

// Where an element of v lies in memory, found through v's views: an element of an input, of a root or of a row.
struct MemoryPosition {
  ValueId base = no_value;
  Index index;  // index into base; empty when only the offset was computed
  Dim offset;   // in bytes from the start of base's memory; a row counts from the start of its own dense memory
};
std::optional<MemoryPosition> memory_position(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v,
                                              Index index);

// Byte strides, per axis, of a chain of views on an input or on a value with memory of its own. nullopt when an index is not
// linear in the axes.
struct StridedView {
  ValueId base = no_value;
  std::vector<Dim> strides;
  Dim offset;
};
std::optional<StridedView> strided_view(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v);

// Whether axes (slowest first) of v can be walked as one axis with the stride of the last: every operand in memory that v's
// inline computation reads must allow it.
bool coalesces(DimTable& dims, const Graph& graph, const std::vector<Place>& places, ValueId v, const std::vector<int>& axes);

}  // namespace accel
