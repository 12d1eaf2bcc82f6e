#include "codegen/emit/control/parallel_loop_writer.h"

#include <algorithm>

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/memory_writer.h"

namespace accel {

namespace {

void collect_temps(const Body& body, std::set<TempId>& out) {
  for (const Stmt& stmt : body) {
    if (stmt.dst >= 0) out.insert(stmt.dst);
    out.insert(stmt.args.begin(), stmt.args.end());
  }
}

}  // namespace

std::vector<TempId> temps_of_loop(const Control& control, const ParallelLoop& loop) {
  const Program& program = control.program;
  std::set<TempId> named = {loop.counter};
  for (int b : loop.blocks) {
    const ProgramBlock& block = program.blocks[static_cast<size_t>(b)];
    for (const BlockStep& step : block.steps) {
      collect_temps(step.body, named);
      if (step.kind != StepKind::nest) continue;
      const Nest& nest = program.nests[static_cast<size_t>(step.nest)];
      for (TempId temp : nest_parameters(control.emission.copy.facts, nest)) named.insert(temp);
    }
    if (block.condition >= 0) named.insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) named.insert({param, value});
  }
  const std::set<TempId>& declared = control.emission.declared;
  std::vector<TempId> out;
  std::set_intersection(named.begin(), named.end(), declared.begin(), declared.end(), std::back_inserter(out));
  return out;
}

void ParallelLoopWriter::share(size_t number) {
  for (size_t k = 0; k < program_.parallel_loops.size(); ++k) {
    const ParallelLoop& loop = program_.parallel_loops[k];
    if (static_cast<size_t>(loop.header) != number) continue;
    code_.line(cat("p", loop.header, ":"));
    code_.open("");
    for (BufferId id : loop.written) {
      if (needs_allocation(buffer_info(id))) MemoryWriter(control_).allocate(id);
    }
    control_.allocated = control_.allocated_at_start[number];
    run_loop(k, loop);
    code_.close();
  }
}

void ParallelLoopWriter::run_loop(size_t k, const ParallelLoop& loop) {
  std::string function = cat(control_.name, "_loop", static_cast<long>(k)), counter = temp_name(loop.counter), given;
  std::string step = std::to_string(loop.step), backups = "nullptr, 0";
  code_.line(cat("const i64 n = count_of(", counter, ", ", dim(loop.end), ", ", step, ");"));
  code_.line(cat("const i64 work = n * (", dim(loop.work), ");"));
  code_.open(cat("if (n >= ", static_cast<long>(loop.least), " && work >= frame->serial_work)"));
  pass_symbols(k, loop);
  for (TempId temp : temps_of_loop(control_, loop)) given += cat(given.empty() ? "" : ", ", temp_name(temp));
  code_.line(cat("const ", function, "_temps temps = {", given, "};"));
  code_.line("LoopRun run = {frame, &temps, 0, 0, 0};");
  std::string condition = "true";
  if (loop.leaves && !loop.written.empty()) {
    back_up_written(loop);
    condition = "all_backed_up";
    backups = cat("before, ", static_cast<long>(loop.written.size()));
  }
  code_.open(cat("if (", condition, ")"));
  code_.line(cat("const i64 done = run_loop(&run, ", function, ", ", backups, ", n - 1, work, ", leaves(loop), ");"));
  code_.line(cat(counter, " += done * ", step, ";"));
  code_.line("turns = done < n - 1 ? 0 : turns - turns_of(work);");
  code_.close();
  save(loop.counter);
  stop_unless("!failed(frame)");
  code_.close();
}

// Symbols that the loop's functions read, and that blocks outside of it bind.
void ParallelLoopWriter::pass_symbols(size_t k, const ParallelLoop& loop) {
  for (int symbol : control_.loop_symbols[k]) {
    if (!control_.is_bound(symbol) || binds(program_, loop, symbol)) continue;
    names_.use_symbol(symbol);
    code_.line(cat("symbols[", symbol, "] = s", symbol, ";"));
  }
}

// How an interrupted run can leave after an iteration: the `leaves` argument of turns_before_exit, 0 for not at all.
int ParallelLoopWriter::leaves(const ParallelLoop& loop) const {
  int out = 0;
  for (int b : loop.blocks) {
    const ProgramBlock& latch = program_.blocks[static_cast<size_t>(b)];
    for (int k = 0; k < 2; ++k) {
      if (!control_.polls.back_edges.contains({static_cast<size_t>(b), k}) || latch.edges[k].target != loop.header) continue;
      if (polls_explicitly(latch)) out = std::max(out, copy_.facts.definition(latch.condition)->numbers[0] == 2 ? 3 : 1);
      if (latch.poll > 0 && control_.polls.edges.contains({static_cast<size_t>(b), k})) out = std::max(out, 1);
    }
  }
  return out;
}

// Backs up what the loop writes. Without memory for that, threads do not share the loop.
void ParallelLoopWriter::back_up_written(const ParallelLoop& loop) {
  long count = static_cast<long>(loop.written.size());
  code_.line(cat("Backup before[", count, "];"));
  code_.line("for (Backup& each : before) each.memory = nullptr;");
  code_.line("const int status_before = frame->status;");
  code_.line("bool all_backed_up = true;");
  for (long k = 0; k < count; ++k) {
    code_.open("");
    std::string call = MemoryWriter(control_).backup_call(cat("before[", k, "]"), loop.written[static_cast<size_t>(k)]);
    code_.line(cat("all_backed_up = all_backed_up && ", call, ";"));
    code_.close();
  }
  code_.open("if (!all_backed_up)");
  code_.line(cat("drop_backups(frame, before, ", count, ");"));
  code_.line("frame->status = status_before;");
  code_.close();
}

}  // namespace accel
