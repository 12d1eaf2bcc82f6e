#pragma once
// Buffers and temps of a program with blocks, between them: what has memory where a block begins, and which temps outlive a
// block.

#include <set>
#include <vector>

#include "codegen/analysis/facts.h"

namespace accel {

// Whether a buffer gets its memory from control flow.
bool needs_allocation(const Buffer& buffer);
// Buffers that `protect` steps name, ascending.
std::vector<BufferId> protected_buffers(const Program& program);
// Buffers whose memory does not move during the run.
std::set<BufferId> fixed_buffers(const Program& program);
// Buffers that a step writes and that get their memory from control flow.
std::set<BufferId> buffers_written(const Program& program, const BlockStep& step);
// By block: buffers that certainly have memory where it begins.
std::vector<std::set<BufferId>> allocated_at_start(const Program& program);
// Temps with several definitions, or used outside of the block that defines them.
std::set<TempId> shared_temps(const Program& program, const Facts& facts);
// Slots for symbols: the caller's, and after them those that schedule binds.
long symbol_room(const Program& program);

}  // namespace accel
