#pragma once
// The functions of a kernel around its nests: a runner for each copy of them in a program without blocks, and accel_kernel.

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/functions/nest_texts.h"

namespace accel {

// By copy of the program: the symbols that are fixed in it. The first one has none.
std::vector<std::map<int, int64_t>> copies_of(const Program& program);

// The function that runs a copy of the nests in order, with the memory of the temps.
void add_runner(Code& out, const Program& program, const std::string& name, const NestFunctions& nests);
// accel_kernel: makes the frame, and runs the copy that fits: run_0 always does. `panels`: Facts::panel_count().
void add_entry(Code& out, const Program& program, int panels);

}  // namespace accel
