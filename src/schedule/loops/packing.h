#pragma once
// Packing: what the inner loops of a nest load with gaps, again and again, is copied side by side before.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Adds a nest of copies before nests whose vector loops load elements with gaps that are the same in each round of the
// outermost loop. The values of symbols at capture say whether it is worth it.
Result<bool> pack_columns(ProgramState& state);

}  // namespace accel
