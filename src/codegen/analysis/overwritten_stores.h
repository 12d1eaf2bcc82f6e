#pragma once
// Stores of blocks whose memory other stores may write before anything reads it: the C++ compiler leaves them out (dead-store
// elimination).

#include "schedule/program/program.h"

namespace accel {

// A statement of a step of a block.
struct StmtPosition {
  int block = 0;
  size_t step = 0, stmt = 0;
};

// Whether the memory of a store may be stored to again after it, before its address changes.
bool may_be_overwritten(const Program& program, StmtPosition store);

}  // namespace accel
