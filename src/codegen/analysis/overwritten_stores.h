#pragma once
// Stores of blocks that others may take the place of before anybody has looked: the C++ compiler leaves them out.

#include "schedule/program/program.h"

namespace accel {

// A statement of a step of a block.
struct StmtPlace {
  int block = 0;
  size_t step = 0, stmt = 0;
};

// Whether there may be another store to the memory behind a store before the place of that one changes.
bool may_be_overwritten(const Program& program, StmtPlace store);

}  // namespace accel
