#pragma once
// Calls of NumPy's loops for one number that is only compared: an estimate decides most comparisons alike.

#include <optional>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// The type of prelude part "compared" that estimates the result of a statement's call; null unless the statement calls a loop
// of float32 or float64 that has an estimate, for one number.
const char* estimate_of(const Program& program, const Stmt& stmt);

// What the result of `body[call]`, a call for one number in `nest`, is compared with. Nullopt when it has other uses, or
// when some of these numbers are not known before the call.
std::optional<std::vector<TempId>> compared_with(const Program& program, const Nest& nest, const Body& body, size_t call);

}  // namespace accel
