#include "schedule/memory/input_backup.h"

#include <algorithm>
#include <set>

#include "ir/analysis/loops.h"

namespace accel {

namespace {

void collect_stores(const Body& body, std::set<BufferId>& out) {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) out.insert(stmt.address.buffer);
    bool calls = stmt.kind == StmtKind::call || stmt.kind == StmtKind::gufunc;
    for (size_t k = stmt.operands.size(); calls && k-- > static_cast<size_t>(op_info(stmt.op).arity);)
      out.insert(stmt.operands[k].address.buffer);
    collect_stores(stmt.body, out);
  }
}

// Inputs that a step stores to.
std::set<BufferId> written_inputs(const Program& program, const BlockStep& step) {
  std::set<BufferId> out;
  for (BufferId id : stored_by(program, step))
    if (id >= 0 && program.buffers[static_cast<size_t>(id)].kind == BufferKind::input) out.insert(id);
  return out;
}

// The block at whose end memory is backed up for stores in b: outside of every loop; b itself when it is in none.
BlockId before_loops(const Graph& graph, const Dominance& dominance, const std::vector<NaturalLoop>& loops, BlockId b) {
  for (const NaturalLoop& loop : loops)  // outer loops come first
    if (loop.blocks.contains(b))
      return before_loops(graph, dominance, loops, immediate_dominator(graph, dominance, loop.header));
  return b;
}

void protect_in(Program& program, const Graph& graph, BlockId b, const Dominance& dominance,
                const std::vector<NaturalLoop>& loops) {
  std::vector<BlockStep> steps = std::move(program.blocks[static_cast<size_t>(b)].steps);
  BlockId place = before_loops(graph, dominance, loops, b);
  std::vector<BlockStep> out;
  for (BlockStep& step : steps) {
    for (BufferId id : written_inputs(program, step)) {
      BlockStep protect{StepKind::protect, {}, -1, id};
      auto& where = place == b ? out : program.blocks[static_cast<size_t>(place)].steps;
      bool known = std::any_of(where.begin(), where.end(),
                               [&](const BlockStep& s) { return s.kind == StepKind::protect && s.buffer == id; });
      if (!known) where.push_back(std::move(protect));
    }
    out.push_back(std::move(step));
  }
  program.blocks[static_cast<size_t>(b)].steps = std::move(out);
}

}  // namespace

std::set<BufferId> stored_by(const Program& program, const BlockStep& step) {
  std::set<BufferId> out;
  collect_stores(step.kind == StepKind::nest ? program.nests[static_cast<size_t>(step.nest)].body : step.body, out);
  return out;
}

namespace {

bool has_protect(const Program& program) {
  return std::any_of(program.blocks.begin(), program.blocks.end(), [](const ProgramBlock& block) {
    return std::any_of(block.steps.begin(), block.steps.end(), [](const BlockStep& s) { return s.kind == StepKind::protect; });
  });
}

}  // namespace

Result<bool> protect_inputs(ProgramState& state) {
  const Graph& graph = state.graph;
  Dominance dominance(graph);
  std::vector<NaturalLoop> loops = natural_loops(graph, dominance);
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) protect_in(state.program, graph, b, dominance, loops);
  return has_protect(state.program);
}

}  // namespace accel
