#pragma once
// Events first: a nest that stores to inputs where a mask holds becomes two, so that the inputs need not be kept in case of
// floating-point events.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Splits such nests of a program of one block, where that is less work than a copy of what is stored to: the first one computes
// the masks and all that may raise events, the second one loads the masks, computes the rest once more, and stores.
Result<bool> meet_events_first(ProgramState& state);

}  // namespace accel
