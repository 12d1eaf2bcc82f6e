#pragma once
// Lowering of ops that walk their operand one element after the other.

#include "schedule/lowering/lowering.h"
#include "schedule/program/program.h"

namespace accel {

Nest lower_scan(const Graph& graph, Lowering& lowering, const Node& node);

}  // namespace accel
