#pragma once
// The order in which NumPy (2.3 and later) adds up the elements of a reduction: the one owner of that knowledge.
//
// NumPy sorts and coalesces the axes of the operand as NpyIter does on the operand's memory. The fastest group of axes is the
// inner loop. If it is reduced, one inner loop is a `run`, summed by one pairwise tree (split n/2 rounded down to a multiple
// of 8, leaves of at most 128 elements with 8 accumulators) for floating and complex sums; runs are added to the
// accumulator one after the other. If it is kept, elements are added to their accumulators one by one, in memory order.

#include <vector>

#include "ir/graph.h"

namespace accel {

struct ReductionPlan {
  std::vector<int> outer_axes;  // reduced axes of the sequential loops, slowest first
  std::vector<int> run_axes;    // reduced axes coalesced into one run, slowest first; empty when the inner loop is kept
  bool pairwise = false;        // runs are summed by a pairwise tree; else element by element
  int64_t buffer_chunk = 0;     // > 0: a run is cut into chunks of that many elements, each summed as a run of its own
};

// Plan for reducing `axes` (ascending) of an operand of type `operand` with `ufunc`, accumulating in `accumulator`.
// `strided`: the operand is an input whose axes cannot be assumed to coalesce.
ReductionPlan reduction_plan(const DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc, DType accumulator,
                             bool buffered, bool strided);

// Kept axes whose extent being 1 or not changes the plan: capture guards on that.
std::vector<int> axes_specialised_on_one(const DimTable& dims, const Type& operand, const std::vector<int>& axes, Op ufunc,
                                         DType accumulator);

}  // namespace accel
