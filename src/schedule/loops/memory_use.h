#pragma once
// Memory that statements read and write, for steps that move statements from one nest to another.

#include <algorithm>
#include <set>

#include "schedule/program/program.h"

namespace accel {

struct MemoryUse {
  std::set<BufferId> loaded, stored;
};

// Adds what a body accesses, at any depth. Operands of calls count as stored.
inline void add_memory_use(const Program& program, const Body& body, MemoryUse& out) {
  for (const Stmt& stmt : body) {
    if (stmt.address.buffer >= 0)
      (is_store(stmt.kind) ? out.stored : out.loaded).insert(program.memory_of(stmt.address.buffer));
    for (const CallOperand& operand : stmt.operands)
      if (operand.address.buffer >= 0) out.stored.insert(program.memory_of(operand.address.buffer));
    add_memory_use(program, stmt.body, out);
  }
}
inline MemoryUse memory_use_of(const Program& program, const Body& body) {
  MemoryUse out;
  add_memory_use(program, body, out);
  return out;
}

inline bool meet(const std::set<BufferId>& a, const std::set<BufferId>& b) {
  return std::any_of(a.begin(), a.end(), [&](BufferId id) { return b.contains(id); });
}

inline bool reads(const Program& program, const Stmt& stmt, BufferId memory) {
  return !is_store(stmt.kind) && stmt.address.buffer >= 0 && program.memory_of(stmt.address.buffer) == memory;
}
// How many statements of a body, at any depth, read the memory.
inline int count_reads(const Program& program, const Body& body, BufferId memory) {
  int count = 0;
  for (const Stmt& stmt : body) count += reads(program, stmt, memory) + count_reads(program, stmt.body, memory);
  return count;
}

}  // namespace accel
