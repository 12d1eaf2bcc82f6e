#pragma once
// The loops of stores that are computed and stored row by row (row_stores.h): a row waits in temporary memory until no later
// one needs what it replaces.

#include <vector>

#include "base/result.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/lowering/lowering.h"
#include "schedule/memory/segment_state.h"

namespace accel {

// Finds out whether the stores of a segment can go row by row, if that is tried: if they need values in memory that they do not
// have, the next time they have them; if they cannot, all values are computed before the first store.
Result<bool> slide_rows(SegmentState& state);

// Writes the nests. Requires values in memory as `row_stores` was told, those of `copied` among them.
std::vector<Nest> lower_row_stores(const Graph& graph, const Placement& placement, Lowering& lowering, const RowStores& rows);

}  // namespace accel
