#pragma once
// The prelude of a kernel: the parts that its program needs (codegen/parts.inc).

#include "codegen/emit/code.h"
#include "schedule/program/program.h"

namespace accel {

void add_prelude(Code& out, const Program& program);
bool has_nest_of(const Program& program, Mapping mapping);

}  // namespace accel
