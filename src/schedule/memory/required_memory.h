#pragma once
// Which values have memory whatever loops compute them.

#include <set>

#include "schedule/memory/placement_draft.h"

namespace accel {

// Gives memory to results, to what NumPy's functions, slices and stores read from memory, and to `forced`.
void place_required(PlacementDraft& draft, const std::set<ValueId>& forced);

}  // namespace accel
