#pragma once
// The loops of stores that are computed and stored row by row (row_stores.h): a row waits in temporary memory until no later
// one needs what it replaces.

#include <vector>

#include "base/result.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/lowering/lowering.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Finds out whether the stores of a segment can go row by row, if that is tried. Where they need copies of what they overwrite,
// the steps run again with these in memory; where rows are no order, with all values computed before the first store.
Result<bool> slide_rows(SegmentState& state);

// Writes the nests. Requires that the values for which `in_memory` held in row_stores(), and those of `copied`, are in memory.
std::vector<Nest> lower_row_stores(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows);

}  // namespace accel
