#pragma once
// Row blocks: neighbouring nests that go over rows of the same memory do so block of rows by block of rows, so that what one
// leaves in the cache the next one finds there.

#include "base/result.h"
#include "schedule/memory/program_state.h"

namespace accel {

// Rewrites sequences of nests whose every access is a row of its memory that is a fixed number of rows away from the row that
// the nest stores. Blocks run in parallel; rows at the edges of blocks that need rows of two blocks are left to a nest behind.
// The sizes at capture say whether it is worth it.
Result<bool> block_rows(ProgramState& state);

}  // namespace accel
