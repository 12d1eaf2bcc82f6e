#pragma once
// New arrays of NumPy's own code that are not filled, because stores fill them.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// `unread` stays with arrays that one store, and the views that say where it stores, are all that uses; others are filled.
Result<bool> fill_what_is_read(GraphState& state);

}  // namespace accel
