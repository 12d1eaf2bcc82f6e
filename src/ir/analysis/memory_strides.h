#pragma once
// Where the elements of a value lie in the memory that NumPy would use for it.

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace accel {

// Strides in bytes of an array without gaps.
std::vector<Dim> contiguous_strides(DimTable& dims, const Type& type);

// Strides in bytes of v per axis: views are followed to an input or to a value with dense memory of its own. Axes made by
// expand_dims or broadcast_to have stride 0. nullopt: a reshape that may or may not copy. `dims` holds graph.dims.
std::optional<std::vector<Dim>> memory_strides(DimTable& dims, const Graph& graph, ValueId v);

}  // namespace accel
