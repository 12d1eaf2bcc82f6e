#include "codegen/emit/control_function.h"

#include <algorithm>

#include "codegen/emit/expressions.h"

namespace accel {

namespace {

void collect_dims(const Body& body, std::vector<Dim>& out) {
  for (const Stmt& stmt : body) {
    for (Dim d : {stmt.extent, stmt.address.offset, stmt.dim})
      if (d.id >= 0) out.push_back(d);
    for (const CallOperand& operand : stmt.operands) {
      out.push_back(operand.address.offset);
      if (operand.stride.id >= 0) out.push_back(operand.stride);
    }
    out.insert(out.end(), stmt.core_dims.begin(), stmt.core_dims.end());
    out.insert(out.end(), stmt.core_strides.begin(), stmt.core_strides.end());
    collect_dims(stmt.body, out);
  }
}

const Nest no_nest;

// Lines of text up to which a function is compiled with more effort.
constexpr std::ptrdiff_t most_lines_that_run_once = 200, most_lines_at_full_effort = 1000, most_lines_in_loops = 4000;

// The text with each line "@k@" as the assignment that it stands for, if buffer k is used.
std::string without_marks(const std::string& text, const std::set<BufferId>& used) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at) + 1, mark = text.find_first_not_of(' ', at);
    if (mark < end && text[mark] == '@') {
      int id = std::stoi(text.substr(mark + 1));
      if (used.contains(id)) out += cat(std::string(mark - at, ' '), "b", id, " = frame->buffers[", id, "];\n");
    } else {
      out.append(text, at, end - at);
    }
    at = end;
  }
  return out;
}

}  // namespace

std::vector<BufferId> protected_buffers(const Program& program) {
  std::set<BufferId> out;
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps)
      if (step.kind == StepKind::protect) out.insert(step.buffer);
  return {out.begin(), out.end()};
}

long symbol_room(const Program& program) {
  long room = program.symbol_count;
  for (int symbol : program.bound_symbols) room = std::max<long>(room, symbol + 1);
  return room;
}

ControlFunction::ControlFunction(Copy& copy, const std::vector<std::vector<NestFunction>>& nests, std::string name)
    : KernelFunction(copy, no_nest, std::move(name)),
      program_(copy.program),
      nests_(nests),
      protected_(protected_buffers(copy.program)) {}

// Temps with several definitions, or used outside of the block that defines them.
void ControlFunction::find_shared() {
  std::map<TempId, size_t> home;
  auto use = [&](TempId temp, size_t block) {
    auto found = home.find(temp);
    if (found == home.end() || found->second != block) shared_.insert(temp);
  };
  for (size_t b = 0; b < program_.blocks.size(); ++b)
    for (const BlockStep& step : program_.blocks[b].steps)
      for (const Stmt& stmt : step.body) {
        if (stmt.dst < 0) continue;
        bool twice = !home.emplace(stmt.dst, b).second;
        if (twice || stmt.kind == StmtKind::assign || is_for_caller(stmt.kind)) shared_.insert(stmt.dst);
      }
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    const ProgramBlock& block = program_.blocks[b];
    for (const BlockStep& step : block.steps) {
      for (const Stmt& stmt : step.body)
        for (TempId arg : stmt.args) use(arg, b);
      if (step.kind == StepKind::nest)
        for (TempId temp : nest_parameters(copy_.facts, program_.nests[static_cast<size_t>(step.nest)])) use(temp, b);
    }
    if (block.condition >= 0) use(block.condition, b);
    if (asks_itself(block))
      for (const auto& [param, value] : block.edges[1].scalars) shared_.insert(value);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) shared_.insert(param), use(value, b);
    for (const ExitOutput& output : block.outputs)
      if (output.scalar >= 0) use(output.scalar, b);
  }
}

std::string ControlFunction::elements_text(BufferId id) {
  return cat(dim(buffer_info(id).elements), "*", item_size(buffer_info(id).dtype));
}

// --- text -----------------------------------------------------------------------------------------------------------

Result<std::string> ControlFunction::write_program() {
  find_shared();
  find_fixed();
  find_held();
  find_polls();
  find_homes();
  events_ = copy_.all_events.value_or(0);
  ACCEL_TRY([[maybe_unused]] Unit loops, write_loops());
  for (size_t b = 0; b < program_.blocks.size(); ++b) write_block(b);
  if (failure_) return *failure_;
  Code out;
  out.raw(before_);
  write_exit_tables(out);
  open_blocks(out, "[[maybe_unused]] Kept* kept");
  out.raw(blocks_text());
  close_blocks(out);
  write_wrapper(out);
  return out.text();
}

// What the compiler is to spend on the function. Some of g++'s passes take time that grows with the square of its length: long
// functions do without them, and so does code that runs once.
std::string ControlFunction::effort() const {
  const auto lines = std::count(code_.text().begin(), code_.text().end(), '\n');
  if (lines > (has_loops_ ? most_lines_in_loops : most_lines_that_run_once)) return "ACCEL_FOR_SIZE ";
  return lines > most_lines_at_full_effort ? "ACCEL_LONG " : "";
}

// The function of the blocks has the memory that stays in place as parameters of its own.
void ControlFunction::open_blocks(Code& out, const std::string& parameters) {
  std::string memory;
  for (BufferId id : buffers_)
    if (fixed_.contains(id)) memory += cat(", [[maybe_unused]] char* __restrict b", id);
  out.open(
      cat("static __attribute__((noinline)) ", effort(), "void ", name_, "_blocks(Frame* frame, ", parameters, memory, ")"));
  write_locals(out);
}

void ControlFunction::close_blocks(Code& out) {
  out.line("done:");
  if (has_sink_) out.line("show(sink);");
  out.line(cat("report(frame, ", events_text(), ");"));
  out.line("return;");
  out.close();
}

void ControlFunction::write_locals(Code& out) {
  out.line("[[maybe_unused]] i64* const symbols = (i64*)frame->symbols;");
  for (int symbol : symbols_)
    out.line(is_bound(symbol) ? cat("i64 s", symbol, " = 0;") : cat("const i64 s", symbol, " = symbols[", symbol, "];"));
  out.line("int status = 0;");
  if (!homes_.empty()) out.line(cat("char home[", static_cast<long>(homes_.size()), "][16] __attribute__((aligned(16)));"));
  out.line("[[maybe_unused]] i64 turns = poll_turns;");
  for (const auto& [header, strip] : strips_) out.line(cat("i64 strip", static_cast<long>(header), " = 0;"));
  if (has_draws_) out.line("const AccelDraw* const draws = frame->launch->draws;");
  for (BufferId id : buffers_)
    if (!fixed_.contains(id)) out.line(cat("char* b", id, " = frame->buffers[", id, "];"));
  for (const auto& [name, value] : inputs_) out.line(cat("const auto ", name, " = ", value, ";"));
  for (TempId temp : shared_) out.line(cat("[[maybe_unused]] ", type(temp), " ", temp_name(temp), "{};"));
  if (has_lanes_) out.line("const u64 hidden = opaque<u64>(0);");
  if (has_sink_) out.line("Sink sink;");
}

std::string ControlFunction::blocks_text() const { return without_marks(code_.text(), buffers_); }

void ControlFunction::write_wrapper(Code& out) {
  std::string arguments;
  std::vector<std::string> holds;  // they name symbols
  for (BufferId id : buffers_) {
    if (!fixed_.contains(id)) continue;
    arguments += cat(", frame->buffers[", id, "]");
    if (needs_holding(buffer_info(id))) holds.push_back(cat("{ ", hold_text(id, "return"), " }"));
  }
  out.open(cat("static void ", name_, "(Frame* frame, Kept* kept)"));
  out.line("[[maybe_unused]] const i64* const symbols = frame->symbols;");
  for (int symbol : symbols_) out.line(cat("[[maybe_unused]] const i64 s", symbol, " = symbols[", symbol, "];"));
  for (const std::string& line : holds) out.line(line);
  if (events_ != 0) out.line("fp_clear();");
  out.line(cat(name_, "_blocks(frame, kept", arguments, ");"));
  out.close();
}

// Blocks that leave for the interpreter are kept out of the way.
void ControlFunction::write_block(size_t number) {
  const ProgramBlock& block = program_.blocks[number];
  held_ = held_at_start_[number];
  if (!loop_) share(number);
  bool rare = block.end == BlockEnd::exit && block.exit > 0;
  if (strips_.contains(number)) {
    const Strip& strip = strips_.at(number);
    std::string until = cat("end_of_strip(", temp_name(strip.counter), ", ", strip.length, ")");
    if (strip.fixed_end.id >= 0)
      until = cat(strip.length > 0 ? "index_min(" : "index_max(", cat("(i64)", dim(strip.fixed_end)), ", ", until, ")");
    code_.line(cat("s", static_cast<long>(number), ": strip", static_cast<long>(number), " = ", until, ";"));
  }
  if (number > 0) code_.line(cat("l", static_cast<long>(number), ":", rare ? " __attribute__((cold));" : ""));
  code_.open("");
  if (is_under_branch(number) && has_hidden_events(block)) code_.line("asm volatile(\"\");");  // not done on other ways
  for (size_t k = 0; k < block.steps.size(); ++k) {
    const BlockStep& step = block.steps[k];
    if (step.kind == StepKind::scalars)
      scalars(step);
    else if (step.kind == StepKind::protect)
      protect(number, k);
    else if (step.kind == StepKind::grow)
      grow(step);
    else
      run(step);
  }
  switch (block.end) {
    case BlockEnd::exit:
      exit(block);
      break;
    case BlockEnd::jump:
      go(number, 0);
      break;
    case BlockEnd::branch:
      if (loop_ && static_cast<size_t>(loop_->header) == number) {
        code_.line("if (count-- == 0) goto done;");
        go(number, 0);
        break;
      }
      if (strips_.contains(number)) {
        end_strip(number);
        break;
      }
      if (loop_ && asks_itself(block)) {  // the calling thread does, between parts of the loop
        go(number, 1);
        break;
      }
      code_.open(cat("if (", temp_name(block.condition), ")"));
      if (block.is_guessed) code_.line("asm volatile(\"\");");  // nothing that g++ could do on both ways
      go(number, 0);
      code_.close();
      if (asks_itself(block)) {  // it may be gone on with from the exit
        code_.line(cat("goto c", static_cast<long>(number), ";"));
        code_.close();
        code_.line(cat("c", static_cast<long>(number), ":"));
        code_.open("");
      }
      go(number, 1);
      break;
  }
  code_.close();
}

void ControlFunction::stop_unless(const std::string& condition) { code_.line(cat("if (!(", condition, ")) goto done;")); }

// Whether a branch other than that at the header of a loop decides that the block runs.
bool ControlFunction::is_under_branch(size_t number) const {
  const std::vector<ProgramBlock>& blocks = program_.blocks;
  auto leads_to = [](const ProgramBlock& from, size_t to) {
    return std::any_of(std::begin(from.edges), std::end(from.edges),
                       [&](const Edge& edge) { return edge.target == static_cast<int>(to); });
  };
  for (size_t from = 0; from < blocks.size(); ++from) {
    if (blocks[from].end != BlockEnd::branch || !leads_to(blocks[from], number)) continue;
    bool is_header = false;
    for (size_t later = from; later < blocks.size(); ++later) is_header |= leads_to(blocks[later], from);
    if (!is_header) return true;
  }
  return false;
}

// Whether g++ takes an operation of the block, which has events, for one without: roots, and products that are fused.
bool ControlFunction::has_hidden_events(const ProgramBlock& block) const {
  auto hides = [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::compute && !stmt.quiet && (stmt.op == Op::sqrt || dtype_kind(stmt.dtype) == 'c');
  };
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const BlockStep& step) {
    return step.kind == StepKind::scalars && std::any_of(step.body.begin(), step.body.end(), hides);
  });
}

// What the run has met so far: the flags gather the events of all it does.
std::string ControlFunction::events_text() const {
  return events_ == 0 ? "status" : cat("status | (fp_read() & ", events_, ")");
}

// --- steps ----------------------------------------------------------------------------------------------------------

void ControlFunction::scalars(const BlockStep& step) {
  std::set<BufferId> written = written_by(step);
  for (const Stmt& stmt : step.body)
    if (is_received_output(stmt)) written.erase(stmt.address.buffer);
  for (BufferId id : written) hold(id);
  for (size_t k = 0; k < step.body.size(); ++k) {
    const Stmt& stmt = step.body[k];
    if (stmt.kind == StmtKind::bind)
      code_.line(cat(dim(stmt.dim), " = ", temp_name(stmt.args[0]), ";"));
    else if (stmt.kind == StmtKind::slice)
      define(stmt, cat("slice_of(frame, ", temp_name(stmt.args[0]), ", ", dim(stmt.extent), ", ", dim(stmt.dim), ")"));
    else if (is_for_caller(stmt.kind))
      boxed(stmt);
    else
      write(step.body, k);
    if (stmt.kind != StmtKind::bind) save(stmt.dst);
    forget_panels(stmt);
  }
}

// The sums of products that were worked out ahead are no longer right where what they were made of has changed.
void ControlFunction::forget_panels(const Stmt& stmt) {
  int panels = copy_.facts.panel_count();
  if (panels == 0) return;
  if (is_store(stmt.kind) && buffer_info(memory_of(stmt.address.buffer)).kind == BufferKind::input) {
    std::string to = stmt.kind == StmtKind::store ? address(stmt.address) : indexed_address(stmt, 1);
    code_.line(cat("forget_panels(frame, ", panels, ", ", to, ");"));
  } else if (is_for_caller(stmt.kind) && stmt.kind != StmtKind::interrupted) {
    code_.line(cat("forget_panels(frame, ", panels, ");"));
  }
}

void ControlFunction::define(const Stmt& stmt, const std::string& value) {
  if (!shared_.contains(stmt.dst)) return KernelFunction::define(stmt, value);
  code_.line(cat(temp_name(stmt.dst), " = ", value, ";"));
  keep(stmt);
}

// Scalar inputs are read once: stores through pointers could change them for all that the compiler knows.
void ControlFunction::input(const Stmt& stmt) {
  std::string name = cat("in", stmt.slot, "_", type(stmt.dst));
  inputs_[name] = cat("load_", type(stmt.dst), "((const char*)(frame->symbols + ", stmt.slot, "))");
  define(stmt, name);
}

// Where a buffer's memory is may have changed. Written as a mark: only names that the text uses are kept up to date.
void ControlFunction::refresh(BufferId id) { code_.line(cat("@", id, "@")); }

namespace {

// Whether a body may raise flags of the hardware that are no events of NumPy's: comparisons of NaNs do.
bool touches_flags(const Program& program, const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    bool computes = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold || stmt.kind == StmtKind::argreduce;
    char kind = stmt.args.empty() ? 'i' : dtype_kind(program.temps[static_cast<size_t>(stmt.args[0])]);
    return (computes && (kind == 'f' || kind == 'c')) || touches_flags(program, stmt.body);
  });
}

bool may_stop(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) {
    return stmt.loop_kind == LoopKind::parallel || stmt.divide_work || !stmt.operands.empty() || may_stop(stmt.body);
  });
}

}  // namespace

void ControlFunction::run(const BlockStep& step) {
  size_t number = static_cast<size_t>(step.nest);
  const Nest& nest = program_.nests[number];
  for (BufferId id : written_by(step)) hold(id);
  std::vector<Dim> dims = {nest.work.id >= 0 ? nest.work : copy_.dims.constant(0)};
  collect_dims(nest.body, dims);
  for (BufferId id : buffers_of(nest.body)) dims.push_back(buffer_info(id).elements);
  std::set<int> bound;
  for (Dim d : dims)
    for (int symbol : copy_.dims.symbols(d))
      if (program_.is_bound(symbol)) bound.insert(symbol);
  for (int symbol : bound) {
    symbols_.insert(symbol);
    code_.line(cat("symbols[", symbol, "] = s", symbol, ";"));
  }
  bool apart = events_ != 0 && copy_.facts.events(nest.body) == 0 && touches_flags(program_, nest.body);
  if (apart) code_.open("");
  if (apart) code_.line("const auto flags = fp_control();");
  const Stmt* repeat = program_.records_events ? repeat_in(nest.body) : nullptr;
  if (repeat != nullptr) {
    code_.open("");
    code_.line(cat("const i64 iterations = ", dim(repeat->extent), ";"));
    stop_unless("begin_rows(frame, iterations)");
  }
  call_nest(number);
  if (repeat != nullptr) {
    code_.line("end_rows(frame, iterations);");
    code_.close();
  }
  if (copy_.facts.panel_count() > 0 && copy_.facts.panel_of(nest) < 0)
    code_.line(cat("forget_panels(frame, ", copy_.facts.panel_count(), ");"));
  if (apart) code_.line("fp_set_control(flags);");
  if (apart) code_.close();
  bool heap = std::any_of(program_.buffers.begin(), program_.buffers.end(),
                          [](const Buffer& b) { return b.kind == BufferKind::scratch; });
  if (heap || may_stop(nest.body)) stop_unless("!failed(frame)");
}

void ControlFunction::call_nest(size_t number) {
  std::string otherwise;
  for (const NestFunction& function : nests_[number]) {
    std::string condition;
    for (const auto& [symbol, value] : function.fixed)
      condition += cat(condition.empty() ? "" : " && ", dim(copy_.dims.symbol(symbol)), " == ", static_cast<long>(value));
    std::vector<std::string> arguments = {"frame", "&status"};
    for (BufferId id : function.buffers) arguments.push_back(buffer(memory_of(id)));
    for (TempId temp : nest_parameters(copy_.facts, program_.nests[number])) arguments.push_back(temp_name(temp));
    for (const std::string& text : function.dims) arguments.push_back(dim(*copy_.dims.parse(text)));
    std::string test = condition.empty() ? "" : cat("if (", condition, ") ");
    code_.line(cat(otherwise, test, function.name, "_body(", listed(arguments), ");"));
    otherwise = "else ";
  }
}

std::string ControlFunction::dims_text(const std::vector<Dim>& dims) {
  std::vector<std::string> items;
  for (Dim d : dims) items.push_back(dim(d));
  return listed(items);
}

// --- ends of blocks -------------------------------------------------------------------------------------------------

std::string ControlFunction::label(size_t from, int target) const {
  if (loop_entered(from, target)) return cat("p", target);
  auto strip = strips_.find(static_cast<size_t>(target));
  const bool enters = strip != strips_.end() && strip->second.latch != from;
  return cat(enters ? "s" : "l", target);
}

void ControlFunction::go(size_t from, int which) {
  const Edge& edge = program_.blocks[from].edges[which];
  if (loop_ && !std::count(loop_->blocks.begin(), loop_->blocks.end(), edge.target)) return code_.line("goto left;");
  if (program_.records_events && back_edges_.contains({from, which})) code_.line("flush_events(frame);");
  if (auto poll = polls_.find({from, which}); poll != polls_.end()) {
    write_poll(from, cat("(turns -= ", turns_text(poll->second), ") > 0 || "));
  } else if (optional_polls_.contains({from, which})) {
    write_poll(from, "--turns > 0 || ");
  }
  for (const auto& [to, from] : edge.swaps) {
    code_.line(cat("exchange(frame, ", to, ", ", from, ");"));
    refresh(to);
    refresh(from);
  }
  std::set<TempId> params;
  for (const auto& [param, value] : edge.scalars) params.insert(param);
  // Parameters get their values all at once: those that are read after they change are saved first.
  bool crossing =
      std::any_of(edge.scalars.begin(), edge.scalars.end(), [&](const auto& p) { return params.contains(p.second); });
  if (crossing) code_.open("");
  for (const auto& [param, value] : edge.scalars)
    if (crossing) code_.line(cat("const ", type(param), " n", param, " = ", temp_name(value), ";"));
  for (const auto& [param, value] : edge.scalars) {
    code_.line(cat(temp_name(param), " = ", crossing ? cat("n", param) : temp_name(value), ";"));
    save(param);
  }
  if (crossing) code_.close();
  code_.line(cat("goto ", label(from, edge.target), ";"));
}

}  // namespace accel
