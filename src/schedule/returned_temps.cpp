#include "schedule/returned_temps.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

// Temps whose memory somebody else provides, or that are not the same memory everywhere.
std::set<BufferId> apart(const Program& program) {
  std::set<BufferId> out;
  for (const ParallelLoop& loop : program.parallel_loops) out.insert(loop.own.begin(), loop.own.end());
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body)
        if (stmt.kind == StmtKind::receive_array) out.insert(stmt.address.buffer);
  return out;
}

bool is_known_at_start(const Program& program, const std::vector<Dim>& dims) {
  return std::all_of(dims.begin(), dims.end(), [&](Dim d) { return program.is_known_at_start(d); });
}

}  // namespace

void return_temps(Program& program) {
  std::set<BufferId> excluded = apart(program);
  for (const ProgramBlock& block : program.blocks) {
    if (block.end != BlockEnd::exit || block.exit != 0) continue;
    for (const ExitOutput& output : block.outputs) {
      if (!program.is_early(output.buffer) || excluded.contains(output.buffer) || !is_known_at_start(program, output.shape))
        continue;
      Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
      if (buffer.kind != BufferKind::temp) continue;  // the result of another return
      buffer.kind = BufferKind::output;
      buffer.binding = output.output;
      buffer.shape = output.shape;
    }
  }
}

}  // namespace accel
