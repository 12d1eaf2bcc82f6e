#pragma once
// Checks of indices in programs for a device that need not be awaited: the run tests them where it waits for something else, or
// at its end.

#include <set>

#include "schedule/program/program.h"

namespace accel {

struct DeferredChecks {
  // Cells (bool) that nests compute and that decide deferrable branches alone.
  std::set<BufferId> cells;
  bool are_in_loops = false;  // whether a loop of blocks computes one of them
};

// Empty where the program is not for a device.
DeferredChecks deferred_checks(const Program& program);

}  // namespace accel
