#pragma once
// Uninitialised arrays: new arrays of functions that NumPy implements in Python need no fill when stores fill them.

#include "base/result.h"
#include "schedule/graph/graph_state.h"

namespace accel {

// Clears `unread`, so that the array is filled, unless the array is used by one store only, with the views for its target.
Result<bool> fill_what_is_read(GraphState& state);

}  // namespace accel
