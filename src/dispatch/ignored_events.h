#pragma once
// Floating-point events that numpy.errstate of the captured code itself ignores.

#include "ir/graph.h"

namespace accel {

// Bits of AccelStatus: events of which nobody hears, wherever a run of the graph may meet them. What an operation may raise
// outside of such an errstate is not among them.
int events_ignored_everywhere(const Graph& graph);

}  // namespace accel
