#pragma once
// Stores that run row by row (row_stores.h): a computed row waits in temporary memory until no later row reads what it
// overwrites.

#include <vector>

#include "base/result.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/lowering/lowering.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Decides whether the stores of a segment run row by row, when lower_nests has asked for it. When they need copies of memory
// that they overwrite, the segment's steps run again with the copies in memory; when rows do not work, with all values computed
// before the first store.
Result<bool> slide_rows(SegmentState& state);

// Writes the nests. Requires that the values for which row_stores() saw `in_memory` hold, and those in `copied`, have memory.
std::vector<Nest> lower_row_stores(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows);

}  // namespace accel
