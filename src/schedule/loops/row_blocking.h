#pragma once
// Row blocks: neighbouring nests that go over rows of the same memory do so block of rows by block of rows, so that what one
// leaves in the cache the next one finds there.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Rewrites sequences of nests whose every access is a row of its memory that is a fixed number of rows away from the row that
// the nest stores. Blocks run in parallel; rows at the edges of blocks that need rows of two blocks are left to a nest behind.
// `hints`: sizes, for what is worth it. Decisions are appended to `notes`.
void run_rows_by_blocks(Program& program, std::span<const int64_t> hints, std::vector<std::string>* notes);

}  // namespace accel
