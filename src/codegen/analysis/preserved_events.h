#pragma once
// Computations that must stay for their floating-point events, though the C++ compiler could skip them: their results reach
// only selections or stores that are overwritten, are used on some paths alone, or nowhere.

#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Temps whose computation has to be preserved. `definitions`: by temp, the statement that computes it (Facts::definition).
// `quiet_comparisons`: see emit_cpp. Without them the comparison of an extreme raises its event for NaN in any case.
std::set<TempId> preserved_events(const Program& program, const std::vector<const Stmt*>& definitions, bool quiet_comparisons);

}  // namespace accel
