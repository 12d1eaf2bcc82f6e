#pragma once
// Checks every rule that graph.h and ops.inc state: types, shapes, arity, dominance, terminators.

#include "base/result.h"
#include "ir/graph.h"

namespace accel {

Status verify(const Graph& graph);

}  // namespace accel
