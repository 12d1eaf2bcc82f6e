#include "schedule/memory/result_buffers.h"

#include <algorithm>
#include <set>

#include "schedule/memory/input_backup.h"

namespace accel {

namespace {

// Temps that are allocated elsewhere or are not the same memory everywhere: private, swapped, grown or received ones.
std::set<BufferId> apart(const Program& program) {
  std::set<BufferId> out;
  for (const ParallelLoop& loop : program.parallel_loops) out.insert(loop.own.begin(), loop.own.end());
  for (const ProgramBlock& block : program.blocks) {
    for (const Edge& edge : block.edges)
      for (const auto& [to, from] : edge.swaps) out.insert({to, from});
    for (const BlockStep& step : block.steps) {
      if (step.kind == StepKind::grow) out.insert(step.buffer);
      for (const Stmt& stmt : step.body)
        if (stmt.kind == StmtKind::receive_array) out.insert(stmt.address.buffer);
    }
  }
  return out;
}

// Buffers that are allocated in the first block, if that runs once, or earlier.
std::set<BufferId> made_first(const Program& program) {
  std::set<BufferId> out(program.early.begin(), program.early.end());
  for (const ProgramBlock& block : program.blocks)
    for (const Edge& edge : block.edges)
      if (edge.target == 0) return out;
  for (const BlockStep& step : program.blocks[0].steps) out.merge(stored_by(program, step));
  return out;
}

bool is_known_at_start(const Program& program, const std::vector<Dim>& dims) {
  return std::all_of(dims.begin(), dims.end(), [&](Dim d) { return program.is_known_at_start(d); });
}

}  // namespace

Result<bool> return_temps(ProgramState& state) {
  Program& program = state.program;
  bool changed = false;
  std::set<BufferId> excluded = apart(program), made = made_first(program);
  for (const ProgramBlock& block : program.blocks) {
    if (block.end != BlockEnd::exit || block.exit != 0) continue;
    for (const ExitOutput& output : block.outputs) {
      if (!made.contains(output.buffer) || excluded.contains(output.buffer) || !is_known_at_start(program, output.shape))
        continue;
      Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
      if (buffer.kind != BufferKind::temp) continue;  // already the result of another return
      buffer.kind = BufferKind::output;
      buffer.binding = output.output;
      buffer.shape = output.shape;
      changed = true;
    }
  }
  return changed;
}

}  // namespace accel
