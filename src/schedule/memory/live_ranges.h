#pragma once
// Webs of live ranges: values that share memory because they pass it on and are never live at the same time.

#include <vector>

#include "schedule/graph/segments.h"

namespace accel {

// The representative of each value's web, itself for a web of one. An update shares its base's memory, a block parameter that
// of its arguments when their live ranges are disjoint. A segment runs as a whole, so its results conflict with all that it
// reads. `apart`: values that must not share memory. `origins`: pinned_inputs (ir/analysis/flow.h); memory of inputs is left
// out. Requires a graph whose memory is owned (copy_insertion.h).
std::vector<ValueId> memory_webs(const Graph& graph, const Segments& segments, const std::vector<int>& origins,
                                 const std::vector<bool>& apart);

}  // namespace accel
