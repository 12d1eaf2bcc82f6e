#include "codegen/analysis/overwritten_stores.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

// Whether a block gives one of the symbols a new value.
bool binds(const ProgramBlock& block, const std::vector<int>& symbols, const DimTable& dims) {
  for (const BlockStep& step : block.steps)
    for (const Stmt& stmt : step.body)
      if (stmt.kind == StmtKind::bind &&
          std::any_of(symbols.begin(), symbols.end(), [&](int s) { return dims.names(stmt.dim, s); }))
        return true;
  return false;
}

bool stores_to(const Program& program, const Stmt& stmt, BufferId memory) {
  return (is_store(stmt.kind) && program.memory_of(stmt.address.buffer) == memory) ||
         std::any_of(stmt.body.begin(), stmt.body.end(), [&](const Stmt& each) { return stores_to(program, each, memory); });
}

bool stores_to(const Program& program, const BlockStep& step, BufferId memory) {
  auto stores = [&](const Stmt& stmt) { return stores_to(program, stmt, memory); };
  if (std::any_of(step.body.begin(), step.body.end(), stores)) return true;
  if (step.nest < 0) return false;
  const Body& nest = program.nests[static_cast<size_t>(step.nest)].body;
  return std::any_of(nest.begin(), nest.end(), stores);
}

}  // namespace

bool may_be_overwritten(const Program& program, StmtPosition store) {
  const std::vector<BlockStep>& steps = program.blocks[static_cast<size_t>(store.block)].steps;
  const Body& body = steps[store.step].body;
  const Address& address = body[store.stmt].address;
  const BufferId memory = program.memory_of(address.buffer);
  auto overwrites = [&](const auto& each) { return stores_to(program, each, memory); };
  if (std::any_of(body.begin() + static_cast<std::ptrdiff_t>(store.stmt) + 1, body.end(), overwrites)) return true;
  if (std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(store.step) + 1, steps.end(), overwrites)) return true;
  const std::vector<int> symbols = program.dims.symbols(address.offset);
  std::set<int> seen;
  std::vector<int> open{store.block};
  while (!open.empty()) {
    const ProgramBlock& block = program.blocks[static_cast<size_t>(open.back())];
    open.pop_back();
    for (const Edge& edge : block.edges) {
      if (edge.target < 0 || !seen.insert(edge.target).second) continue;
      const ProgramBlock& next = program.blocks[static_cast<size_t>(edge.target)];
      if (binds(next, symbols, program.dims)) continue;
      if (std::any_of(next.steps.begin(), next.steps.end(), overwrites)) return true;
      open.push_back(edge.target);
    }
  }
  return false;
}

}  // namespace accel
