#pragma once
// Calls of NumPy's loops for one number that is only compared: an estimate decides most comparisons alike.

#include <optional>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// The estimate that replaces a loop of float32 or float64 (prelude part "compared").
struct StandIn {
  Op op;
  const char* estimate;
};
// Null when the statement calls no loop with an estimate for one number.
const StandIn* stand_in(const Program& program, const Stmt& stmt);

// What the result of `body[call]`, a call for one number in `nest`, is compared with. Nullopt when it has other uses, or
// when some of these numbers are not known before the call.
std::optional<std::vector<TempId>> compared_with(const Program& program, const Nest& nest, const Body& body, size_t call);

}  // namespace accel
