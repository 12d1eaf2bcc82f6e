// Loops of the control flow whose iterations threads share. Their functions have the loop's blocks once more, and a frame of
// their own with what an iteration makes; the last iteration is left to the program's own blocks.

#include <algorithm>

#include "codegen/emit/control_function.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

bool contains(const std::vector<int>& list, int item) { return std::count(list.begin(), list.end(), item) > 0; }

bool binds(const Program& program, const ParallelLoop& loop, int symbol) {
  for (int b : loop.blocks)
    for (const BlockStep& step : program.blocks[static_cast<size_t>(b)].steps)
      for (const Stmt& stmt : step.body)
        if (stmt.kind == StmtKind::bind && program.dims.as_symbol(stmt.dim) == symbol) return true;
  return false;
}

void collect_temps(const Body& body, std::set<TempId>& out) {
  for (const Stmt& stmt : body) {
    if (stmt.dst >= 0) out.insert(stmt.dst);
    out.insert(stmt.args.begin(), stmt.args.end());
  }
}

}  // namespace

ControlFunction::ControlFunction(const ControlFunction& whole, const ParallelLoop& loop, std::string name)
    : KernelFunction(whole.copy_, whole.nest_, std::move(name)),
      program_(whole.program_),
      nests_(whole.nests_),
      shared_(whole.shared_),
      held_at_start_(whole.held_at_start_),
      fixed_(whole.fixed_),
      polls_(whole.polls_),
      questions_(whole.questions_),
      optional_polls_(whole.optional_polls_),
      strips_(whole.strips_),
      events_(whole.events_),
      loop_(&loop) {
  strips_.erase(static_cast<size_t>(loop.header));
  for (int b : loop.blocks) held_at_start_[static_cast<size_t>(b)].insert(loop.written.begin(), loop.written.end());
}

bool ControlFunction::is_own(BufferId id) const { return contains(loop_->own, id); }

// Whether a symbol changes while this function runs.
bool ControlFunction::is_bound(int symbol) const { return loop_ ? binds(program_, *loop_, symbol) : program_.is_bound(symbol); }

// The parallel loop that an edge of the whole program enters.
std::optional<size_t> ControlFunction::loop_entered(size_t from, int target) const {
  for (size_t k = 0; !loop_ && k < program_.parallel_loops.size(); ++k) {
    const ParallelLoop& loop = program_.parallel_loops[k];
    if (loop.header == target && !contains(loop.blocks, static_cast<int>(from))) return k;
  }
  return std::nullopt;
}

Status ControlFunction::write_loops() {
  for (size_t k = 0; k < program_.parallel_loops.size(); ++k) {
    ControlFunction function(*this, program_.parallel_loops[k], cat(name_, "_loop", static_cast<long>(k)));
    ACCEL_TRY(std::string text, function.write_loop());
    before_ += text;
    loop_symbols_.push_back(std::move(function.symbols_));
  }
  return Unit{};
}

// Temps of the control flow that the loop's blocks name.
std::vector<TempId> ControlFunction::temps_for(const ParallelLoop& loop) const {
  std::set<TempId> named = {loop.counter};
  for (int b : loop.blocks) {
    const ProgramBlock& block = program_.blocks[static_cast<size_t>(b)];
    for (const BlockStep& step : block.steps) {
      collect_temps(step.body, named);
      if (step.kind != StepKind::nest) continue;
      for (TempId temp : nest_parameters(copy_.facts, program_.nests[static_cast<size_t>(step.nest)])) named.insert(temp);
    }
    if (block.condition >= 0) named.insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) named.insert({param, value});
  }
  std::vector<TempId> out;
  std::set_intersection(named.begin(), named.end(), shared_.begin(), shared_.end(), std::back_inserter(out));
  return out;
}

Result<std::string> ControlFunction::write_loop() {
  for (int b : loop_->blocks) write_block(static_cast<size_t>(b));
  if (failure_) return *failure_;
  std::vector<TempId> temps = temps_for(*loop_);
  shared_ = {temps.begin(), temps.end()};
  Code out;
  out.open(cat("struct ", name_, "_temps"));
  for (TempId temp : temps) out.line(cat(type(temp), " ", temp_name(temp), ";"));
  out.close("};");
  open_blocks(out, "LoopRun* run, i64 begin, i64 count");
  out.line(cat("const ", name_, "_temps* const given = (const ", name_, "_temps*)run->temps;"));
  for (TempId temp : temps) out.line(cat(temp_name(temp), " = given->", temp_name(temp), ";"));
  out.line(cat(temp_name(loop_->counter), " += (run->first + begin) * ", static_cast<long>(loop_->step), ";"));
  out.line(cat("goto l", loop_->header, ";"));
  out.raw(blocks_text());
  if (loop_->leaves) {
    out.line("left: __attribute__((cold));");
    out.line("__atomic_store_n(&run->left, 1, __ATOMIC_RELAXED);");
  }
  close_blocks(out);
  write_part(out);
  return out.text();
}

// The function that threads call: a frame of its own around the blocks.
void ControlFunction::write_part(Code& out) {
  long buffers = static_cast<long>(program_.buffers.size()), symbols = symbol_room(program_);
  out.open(cat("static void ", name_, "(void* arguments, i64 begin, i64 end)"));
  out.line("LoopRun* const run = (LoopRun*)arguments;");
  out.line("if (is_over(run)) return;");
  out.line(cat("char* buffers[", buffers + 1, "];"));
  out.line(cat("i64 capacities[", buffers + 1, "], symbols[", symbols + 1, "];"));
  out.line(cat("Frame own = frame_of(run, buffers, capacities, ", buffers, ", symbols, ", symbols, ");"));
  out.line("Frame* const frame = &own;");
  std::vector<BufferId> memory;  // of this call
  long cells = 0;
  for (size_t k = 0; k < program_.buffers.size(); ++k) {
    BufferId id = static_cast<BufferId>(k);
    if (buffer_info(id).kind == BufferKind::cell) cells++;
    if (is_own(id) || buffer_info(id).kind == BufferKind::scratch) memory.push_back(id);
  }
  if (cells > 0) out.line(cat("char cells[", cells, "][16];"));
  for (size_t k = 0; k < program_.buffers.size(); ++k)
    if (program_.buffers[k].kind == BufferKind::cell)
      out.line(cat("buffers[", static_cast<long>(k), "] = cells[", --cells, "];"));
  for (BufferId id : memory) out.line(cat("buffers[", id, "] = nullptr, capacities[", id, "] = 0;"));
  std::string arguments, held;
  for (BufferId id : buffers_) {
    if (!fixed_.contains(id)) continue;
    arguments += cat(", buffers[", id, "]");
    if (is_own(id)) held += cat(held.empty() ? "" : " && ", "hold(frame, ", id, ", ", elements_text(id), ")");
  }
  for (int symbol : symbols_) out.line(cat("[[maybe_unused]] const i64 s", symbol, " = symbols[", symbol, "];"));
  std::string call = cat(name_, "_blocks(frame, run, begin, end - begin", arguments, ");");
  out.line(held.empty() ? call : cat("if (", held, ") ", call));
  for (BufferId id : memory) out.line(cat("drop_temp(frame, ", id, ");"));
  out.line("__atomic_fetch_or(&run->status, own.status, __ATOMIC_RELAXED);");
  out.close();
}

// Before the header of a parallel loop, where ways from outside arrive: the loop but for its last iteration.
void ControlFunction::share(size_t number) {
  for (size_t k = 0; k < program_.parallel_loops.size(); ++k) {
    const ParallelLoop& loop = program_.parallel_loops[k];
    if (static_cast<size_t>(loop.header) != number) continue;
    code_.line(cat("p", loop.header, ":"));
    code_.open("");
    for (BufferId id : loop.written) {
      if (needs_holding(buffer_info(id))) hold(id);
    }
    held_ = held_at_start_[number];
    run_loop(k, loop);
    code_.close();
  }
}

void ControlFunction::run_loop(size_t k, const ParallelLoop& loop) {
  std::string function = cat(name_, "_loop", static_cast<long>(k)), counter = temp_name(loop.counter), given;
  std::string step = std::to_string(loop.step), kept = "nullptr, 0";
  code_.line(cat("const i64 n = count_of(", counter, ", ", dim(loop.end), ", ", step, ");"));
  code_.line(cat("const i64 work = n * (", dim(loop.work), ");"));
  code_.open(cat("if (n >= ", static_cast<long>(loop.least), " && work >= frame->serial_work)"));
  for (int symbol : loop_symbols_[k]) {
    if (!is_bound(symbol) || binds(program_, loop, symbol)) continue;
    symbols_.insert(symbol);
    code_.line(cat("symbols[", symbol, "] = s", symbol, ";"));
  }
  for (TempId temp : temps_for(loop)) given += cat(given.empty() ? "" : ", ", temp_name(temp));
  code_.line(cat("const ", function, "_temps temps = {", given, "};"));
  code_.line("LoopRun run = {frame, &temps, 0, 0, 0};");
  std::string condition = "true";
  if (loop.leaves && !loop.written.empty()) {
    keep_written(loop);
    condition = "all_kept";
    kept = cat("before, ", static_cast<long>(loop.written.size()));
  }
  code_.open(cat("if (", condition, ")"));
  code_.line(cat("const i64 done = run_loop(&run, ", function, ", ", kept, ", n - 1, work, ", leaves(loop), ");"));
  code_.line(cat(counter, " += done * ", step, ";"));
  code_.line("turns = done < n - 1 ? 0 : turns - turns_of(work);");
  code_.close();
  save(loop.counter);
  stop_unless("!failed(frame)");
  code_.close();
}

// How an interrupted run can leave where an iteration ends: as turns_before_exit asks for it, 0 for not at all.
int ControlFunction::leaves(const ParallelLoop& loop) const {
  int out = 0;
  for (int b : loop.blocks) {
    const ProgramBlock& latch = program_.blocks[static_cast<size_t>(b)];
    for (int k = 0; k < 2; ++k) {
      if (!back_edges_.contains({static_cast<size_t>(b), k}) || latch.edges[k].target != loop.header) continue;
      if (asks_itself(latch)) out = std::max(out, copy_.facts.definition(latch.condition)->numbers[0] == 2 ? 3 : 1);
      if (latch.poll > 0 && polls_.contains({static_cast<size_t>(b), k})) out = std::max(out, 1);
    }
  }
  return out;
}

// Where there is no memory for it the loop is not shared.
void ControlFunction::keep_written(const ParallelLoop& loop) {
  long count = static_cast<long>(loop.written.size());
  code_.line(cat("Kept before[", count, "];"));
  code_.line("for (Kept& each : before) each.memory = nullptr;");
  code_.line("const int status_before = frame->status;");
  code_.line("bool all_kept = true;");
  for (long k = 0; k < count; ++k) {
    code_.open("");
    std::string call = keep_call(cat("before[", k, "]"), loop.written[static_cast<size_t>(k)]);
    code_.line(cat("all_kept = all_kept && ", call, ";"));
    code_.close();
  }
  code_.open("if (!all_kept)");
  code_.line(cat("drop_all_kept(frame, before, ", count, ");"));
  code_.line("frame->status = status_before;");
  code_.close();
}

}  // namespace accel
