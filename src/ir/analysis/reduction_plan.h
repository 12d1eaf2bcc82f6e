#pragma once
// The order in which NumPy (2.3 and later) combines the elements of a reduction: the one owner of that knowledge.
//
// NumPy sorts the operand's axes by stride and coalesces those that memory allows (NpyIter). When the fastest axes are kept,
// each element is combined with its own accumulator, in memory order (`run_axes` is empty). When they are reduced, all reduced
// axes up to the first kept one form a `run`; NumPy's inner loop gets a run as a whole, or cut into pieces where it copies the
// operand through a buffer (a cast, or axes that do not coalesce). Accumulators start from the identity (add: 0) or
// `initial`; the pieces' values are combined with the accumulator one after the other.
//
// Value of one piece of n elements, by dtype of the accumulator (add only: `pairwise`):
// * float32, float64: tree(x, n) is
//     n < 8:     -0.0 + x[0] + x[1] + ... from left to right;
//     n <= 128:  eight sums r[k] = x[k] + x[k+8] + ... over the first n - n % 8 elements, then
//                ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), then the remaining n % 8 elements from left to right;
//     else:      h = n / 2 rounded down to a multiple of 8: tree(x, h) + tree(x + h, n - h).
// * float16: the same tree in float32 over the elements converted to float32; accumulator + tree in float32, rounded to
//   float16 once per piece. (multiply: in float32 from left to right, rounded once per piece; it is not pairwise, but has
//   pieces.)
// * complex64, complex128: with m = 2 n the number of real numbers, on both parts alike,
//     m < 8:     -0.0 + x[0] + x[1] + ...;
//     m <= 128:  four sums r[k] = x[k] + x[k+4] + ... over the first (m - m % 8) / 2 elements, then (r0 + r1) + (r2 + r3), then
//                the remaining elements from left to right;
//     else:      h = m / 2 rounded down to a multiple of 8: tree of the first h / 2 elements + tree of the rest.
// Everything else goes from left to right. Products of complex numbers are fused (fused_multiply) where the inner loop is kept,
// else not; which of them a node means is its `ufunc`.
//
// Under a mask (where=) each longest sequence of elements that count, within a piece, is what a piece is otherwise. NpyIter
// looks at the memory of both arrays; only masks that leave its order as it is without them have a plan.

#include <vector>

#include "ir/graph.h"

namespace accel {

struct ReductionPlan {
  std::vector<int> outer_axes;  // reduced axes of the sequential loops, slowest first
  std::vector<int> run_axes;    // reduced axes of a run, slowest first; empty when the inner loop is kept
  bool pairwise = false;        // pieces are summed by a pairwise tree; else element by element
  int64_t buffer_chunk = 0;     // > 0: a run is cut into pieces of that many elements (`chunk` is equal to it, `block` unset)

  // Elements of a run are numbered in C order of run_axes. A run is cut at every multiple of `block`, and each
  // block at every multiple of `chunk` from its start. Unset (id -1): not cut. Both are at least 1 for every value of the
  // symbols.
  Dim block;
  Dim chunk;

  // False when NumPy's order could not be determined (a reshape that may or may not copy): nothing may rely on the rest.
  bool known = true;
};

// Plan of the node `reduce` (op reduce), with the memory of its operand as NumPy would have it. New expressions go to `dims`,
// which holds graph.dims and perhaps more.
ReductionPlan reduction_plan(DimTable& dims, const Graph& graph, const Node& reduce);

// Plan of a node like that over `operand` under `mask`, which need not exist.
ReductionPlan masked_plan(DimTable& dims, const Graph& graph, ValueId operand, ValueId mask, const std::vector<int>& axes,
                          Op ufunc, DType accumulator, bool buffered);

// Memory layout of an array that NumPy iterates together with the operand, along the operand's axes: strides in bytes (0 along
// axes that it lacks), axes from slowest to fastest.
struct Companion {
  std::vector<Dim> strides;
  std::vector<uint8_t> order;
};
// The axes of `operand` from fastest to slowest as NumPy goes through them; nullopt when that is unknown, or when a mask (or
// no_value) and an array for the result (or null) make NumPy use another order than plans describe.
std::optional<std::vector<int>> iteration_axes(DimTable& dims, const Graph& graph, ValueId operand, ValueId mask,
                                               const Companion* out);

// Plan for reducing `axes` (ascending) of an operand of type `operand` with `ufunc`, accumulating in `accumulator`.
// `strided`: no two axes of the operand coalesce; else its memory is dense. `buffered`: see Attributes.
ReductionPlan reduction_plan(DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc, DType accumulator,
                             bool buffered, bool strided);

// Kept axes whose extent being 1 or not changes the plan: capture guards on that. A plan holds when these extents
// are not 1 (those that are 1 must be the constant 1 in the type).
std::vector<int> axes_specialised_on_one(DimTable& dims, const Graph& graph, const Node& reduce);
// These axes from the operand's type alone: right unless the operand is a broadcast (axes without stride are not in `order`).
std::vector<int> axes_specialised_on_one(const DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc,
                                         DType accumulator);

}  // namespace accel
