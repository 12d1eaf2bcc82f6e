#pragma once
// Row blocking: consecutive nests over rows of the same memory run one block of rows after the other, so that each nest finds
// the rows of the previous one in the cache.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Rewrites sequences of nests in which every access is at a fixed row distance from the row that the nest stores. Blocks run in
// parallel; rows at block edges that need rows of two blocks are computed by a second nest. The sizes at capture decide whether
// it pays.
Result<bool> block_rows(ProgramState& state);

}  // namespace accel
