#pragma once
// Webs: values that live in one memory because they hand it to each other and never need it at the same time.

#include <vector>

#include "schedule/graph/segments.h"

namespace accel {

// Per value: the value whose memory it shares, itself when it has its own. Requires a graph whose memory is owned
// (copy_insertion.h); a segment runs as a whole, so that what it makes lives beside all it reads. An update shares its base's
// memory; a block parameter that of its arguments where their lives do not overlap. `apart`: values that must not share.
// `origins`: pinned_inputs (ir/analysis/flow.h); memory of inputs is not looked at.
std::vector<ValueId> memory_webs(const Graph& graph, const Segments& segments, const std::vector<int>& origins,
                                 const std::vector<bool>& apart);

}  // namespace accel
