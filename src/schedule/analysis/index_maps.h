#pragma once
// Where elements lie: index maps of view ops and byte strides of dense memory.

#include <optional>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace accel {

constexpr int64_t line_bytes = 64;  // of a cache

using Index = std::vector<Dim>;  // one expression per logical axis

// Byte strides of dense memory with axes from slowest to fastest in type.order, of `dtype` items.
std::vector<Dim> dense_strides(DimTable& dims, const Type& type);

// Axes of `from` and `to`, in order, that hold the same elements when one is a reshape of the other: those whose extent is not
// the constant 1, if they differ in one extent at most. As there are as many elements, that one is the same too unless there
// are none. nullopt when the reshape moves elements to other indices.
std::optional<std::vector<std::pair<size_t, size_t>>> same_axes(const DimTable& dims, const Type& from, const Type& to);

// Index into the operand of view `node` for element `index` of its result. Requires op_class(node.op) == view and an
// op other than real and imag (whose index is unchanged). `hints` decide whether an axis is repeated when neither its extent is
// the constant 1 nor equal to the result's.
Index map_view_index(DimTable& dims, const Graph& graph, const Node& node, const Index& index);

// An element of an array.
struct Element {
  ValueId array = no_value;
  Index index;
};
// The element of the array behind all views that is element `index` of v.
Element element_behind_views(DimTable& dims, const Graph& graph, ValueId v, Index index);

// Index k of C order: the position of `index` in an array of `shape`.
Dim linear_index(DimTable& dims, const std::vector<Dim>& shape, const Index& index);

// sum of index[k] * strides[k]
Dim offset_of(DimTable& dims, const Index& index, const std::vector<Dim>& strides);

}  // namespace accel
