#pragma once
// Places: where the values that segments share are in the program. Scalars are temps, arrays lie in buffers.

#include <vector>

#include "base/result.h"
#include "schedule/program/program.h"

namespace accel {

// Per value; -1 for none.
struct Places {
  std::vector<int> origins;  // pinned_inputs (ir/analysis/flow.h)
  std::vector<BufferId> buffers;
  std::vector<TempId> temps;

  BufferId buffer(ValueId v) const { return buffers[static_cast<size_t>(v)]; }
  TempId temp(ValueId v) const { return temps[static_cast<size_t>(v)]; }
};

struct ProgramState;

// Gives the inputs of the graph, the parameters of its blocks and what its segments share their places, which it adds to the
// program. Requires a graph whose memory is owned (copy_insertion.h).
Result<bool> assign_buffers(ProgramState& state);

// Finds the temps that statements outside of nests use, on every path to a normal end, and whose size is known at the start:
// they get their memory there. Requires that the program has all steps of its blocks.
Result<bool> provide_early(ProgramState& state);

}  // namespace accel
