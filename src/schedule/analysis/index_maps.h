#pragma once
// Where elements lie: index maps of view ops and byte strides of dense memory.

#include <optional>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace accel {

constexpr int64_t line_bytes = 64;  // of a cache line

using Index = std::vector<Dim>;  // one expression per logical axis

// Byte strides of dense memory for `type`: axes from slowest to fastest in the type's order.
std::vector<Dim> dense_strides(DimTable& dims, const Type& type);

// Pairs of axes that hold the same elements when `to` is a reshape of `from`: the axes whose extents are not the constant 1, as
// long as at most one pair differs in extent (the sizes are equal, so that pair is equal, too, unless the arrays are empty).
// nullopt when the reshape moves elements to other indices.
std::optional<std::vector<std::pair<size_t, size_t>>> same_axes(const DimTable& dims, const Type& from, const Type& to);

// Index into the operand of view `node` for element `index` of its result. Requires a view op other than real and imag, which
// keep the index. Where neither extents nor constants say whether an axis is broadcast, the graph's hints decide.
Index map_view_index(DimTable& dims, const Graph& graph, const Node& node, const Index& index);

// An element of an array.
struct Element {
  ValueId array = no_value;
  Index index;
};
// The element of the underlying array that is element `index` of v, with all views followed.
Element element_behind_views(DimTable& dims, const Graph& graph, ValueId v, Index index);

// The position of `index` in C order in an array of `shape`.
Dim linear_index(DimTable& dims, const std::vector<Dim>& shape, const Index& index);

// sum of index[k] * strides[k]
Dim offset_of(DimTable& dims, const Index& index, const std::vector<Dim>& strides);

}  // namespace accel
