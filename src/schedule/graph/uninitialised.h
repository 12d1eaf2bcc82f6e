#pragma once
// New arrays of NumPy's own code that are not filled, because stores fill them.

#include "ir/graph.h"

namespace accel {

// `unread` stays with arrays that one store, and the views that say where it stores, are all that uses; others are filled.
void fill_what_is_read(Graph& graph);

}  // namespace accel
