#pragma once
// Values that need memory regardless of loops.

#include <set>

#include "schedule/memory/placement_draft.h"

namespace accel {

// Gives memory to results, to values that NumPy's functions, slices and stores read from memory, and to `forced`.
void place_required(PlacementDraft& draft, const std::set<ValueId>& forced);

}  // namespace accel
