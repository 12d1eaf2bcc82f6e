#pragma once
// Buffer assignment: gives the values that segments share a temp (scalars) or a buffer (arrays) of the program.

#include <vector>

#include "base/result.h"
#include "schedule/program/program.h"

namespace accel {

// The temp or buffer of each value; -1 for none.
struct Places {
  std::vector<int> origins;  // pinned_inputs (ir/analysis/flow.h)
  std::vector<BufferId> buffers;
  std::vector<TempId> temps;

  BufferId buffer(ValueId v) const { return buffers[static_cast<size_t>(v)]; }
  TempId temp(ValueId v) const { return temps[static_cast<size_t>(v)]; }
};

struct ProgramState;

// Assigns temps and buffers to inputs, block parameters and values that segments share, and adds them to the program. Requires
// a graph whose memory is owned (copy_insertion.h).
Result<bool> assign_buffers(ProgramState& state);

// Finds temps whose size is known at the start and that scalar steps use on every path to a normal end: they are allocated at
// the start. Requires that the program has all steps of its blocks.
Result<bool> provide_early(ProgramState& state);

}  // namespace accel
