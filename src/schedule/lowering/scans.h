#pragma once
// Lowering of ops that process their operand in order: accumulate and true_indices.

#include "schedule/lowering/lowering.h"
#include "schedule/program/program.h"

namespace accel {

Nest lower_scan(const Graph& graph, Lowering& lowering, const Node& node);

}  // namespace accel
