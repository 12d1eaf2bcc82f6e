#include "codegen/emit/control/control.h"

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/exit_writer.h"

namespace accel {

namespace {

const Nest no_nest;

}  // namespace

Control::Control(Copy& copy, const NestFunctions& nests_, std::string name_)
    : emission(copy, no_nest, nullptr),
      program(copy.program),
      nests(nests_),
      name(std::move(name_)),
      events(copy.all_events.value_or(0)),
      polls(find_polls(program, copy.facts)),
      fixed(fixed_buffers(program)),
      allocated_at_start(accel::allocated_at_start(program)),
      protected_buffers(accel::protected_buffers(program)),
      homes(homes_of_exits(program)) {
  emission.declared = shared_temps(program, copy.facts);
  emission.inputs.emplace();
}

Control::Control(const Control& whole, const ParallelLoop& loop_, std::string name_)
    : emission(whole.emission.copy, no_nest, nullptr),
      program(whole.program),
      nests(whole.nests),
      name(std::move(name_)),
      events(whole.events),
      polls(whole.polls),
      fixed(whole.fixed),
      allocated_at_start(whole.allocated_at_start),
      loop(&loop_) {
  emission.declared = whole.emission.declared;
  emission.inputs.emplace();
  polls.back_edges.clear();  // the calling thread flushes events between parts of the loop
  polls.strips.erase(static_cast<size_t>(loop_.header));
  for (int b : loop_.blocks) allocated_at_start[static_cast<size_t>(b)].insert(loop_.written.begin(), loop_.written.end());
}

bool Control::is_bound(int symbol) const { return loop ? binds(program, *loop, symbol) : program.is_bound(symbol); }

std::string Control::events_text() const { return events == 0 ? "status" : cat("status | (fp_read() & ", events, ")"); }

bool binds(const Program& program, const ParallelLoop& loop, int symbol) {
  for (int b : loop.blocks)
    for (const BlockStep& step : program.blocks[static_cast<size_t>(b)].steps)
      for (const Stmt& stmt : step.body)
        if (stmt.kind == StmtKind::bind && program.dims.as_symbol(stmt.dim) == symbol) return true;
  return false;
}

}  // namespace accel
