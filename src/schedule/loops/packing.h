#pragma once
// Packing: what the inner loops of a nest load with gaps, again and again, is copied side by side before.

#include <string>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Adds a nest of copies before nests whose vector loops load elements with gaps that are the same in each round of the
// outermost loop. `hints`: values of symbols at capture, which say whether it is worth it.
void pack_columns(Program& program, const std::vector<int64_t>& hints, std::vector<std::string>* notes);

}  // namespace accel
