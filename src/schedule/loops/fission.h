#pragma once
// Loop fission: a nest with masked stores to inputs becomes two, so that inputs need no backup for the case that floating-point
// events end the run.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Splits the first nest that stores to inputs, in a program of one block, where that is less work than a backup: the first half
// computes the masks and everything that may raise events, the second one loads the masks, computes the rest again, and stores.
Result<bool> meet_events_first(ProgramState& state);

}  // namespace accel
