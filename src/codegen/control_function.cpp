#include "codegen/control_function.h"

#include <algorithm>

#include "codegen/expressions.h"

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

namespace {

// Code without loops that has more buffers takes memory by calls.
constexpr size_t most_held_in_line = 32;
constexpr long strip_length = 1 << 16;  // of a loop of a few statements: some 50 microseconds
constexpr size_t statements_of_strip = 16;
// Turns that count for more than an iteration of a few statements.
constexpr int turns_of_nest = 64, turns_of_inner_loop = 1024, turns_of_draw = 16;
constexpr int turns_of_call = 1 << 14;  // nobody knows how long it takes

// Whether a nest calls one of NumPy's functions of whole matrices.
bool calls_solver(const Body& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const Stmt& stmt) { return stmt.kind == StmtKind::gufunc || calls_solver(stmt.body); });
}

int edge_count(const ProgramBlock& block) { return block.end == BlockEnd::jump ? 1 : block.end == BlockEnd::branch ? 2 : 0; }

}  // namespace

// Whether the block asks whether the run is interrupted, and branches on that.
bool ControlFunction::asks_itself(const ProgramBlock& block) const {
  const Stmt* condition = block.end == BlockEnd::branch ? copy_.facts.definition(block.condition) : nullptr;
  return condition != nullptr && condition->kind == StmtKind::interrupted;
}

// The block that asks whether the run is interrupted, and branches to this exit if so.
std::optional<size_t> ControlFunction::asked_by(const ProgramBlock& exit) const {
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    const ProgramBlock& block = program_.blocks[b];
    if (asks_itself(block) && &program_.blocks[static_cast<size_t>(block.edges[0].target)] == &exit) return b;
  }
  return std::nullopt;
}

// Edges back to where the way came from ask whether the run is interrupted. Innermost loops that count do so after each strip.
void ControlFunction::find_polls() {
  struct Back {
    size_t from;
    int which;
    std::vector<size_t> loop;  // blocks on the way from the header to `from`
  };
  std::vector<Back> edges;
  std::set<size_t> headers;
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::pair<size_t, int>> way = {{0, 0}};
  seen[0] = true;
  while (!way.empty()) {
    auto [block, next] = way.back();
    if (next == edge_count(program_.blocks[block])) {
      way.pop_back();
      continue;
    }
    ++way.back().second;
    size_t target = static_cast<size_t>(program_.blocks[block].edges[next].target);
    auto start = std::find_if(way.begin(), way.end(), [&](const auto& step) { return step.first == target; });
    if (start != way.end()) {
      headers.insert(target);
      back_edges_.emplace(block, next);
      Back& back = edges.emplace_back(Back{block, next, {}});
      for (; start != way.end(); ++start) back.loop.push_back(start->first);
    } else if (!seen[target]) {
      seen[target] = true;
      way.emplace_back(target, 0);
    }
  }
  has_loops_ = loop_ != nullptr || !edges.empty();
  holds_by_call_ = edges.empty() && program_.buffers.size() > most_held_in_line;
  // An iteration without a loop in it, that calls nothing, is short.
  std::map<size_t, int> latches;
  for (const Back& back : edges) ++latches[back.loop.front()];
  for (const Back& back : edges) {
    const size_t header = back.loop.front();
    if (asks_itself(program_.blocks[back.from])) {
      questions_[program_.blocks[back.from].condition] = turns_of_loop(back.loop, headers);
      continue;
    }
    bool is_short = true;
    size_t statements = 0;
    for (size_t block : back.loop) {
      is_short = is_short && (block == header || !headers.contains(block));
      for (const BlockStep& step : program_.blocks[block].steps) {
        statements += step.body.size();
        is_short = is_short && step.kind == StepKind::scalars &&
                   std::none_of(step.body.begin(), step.body.end(), [](const Stmt& stmt) { return is_for_caller(stmt.kind); });
      }
    }
    if (is_short && is_counted(header, back.from)) {
      const Stmt* test = computation(program_.blocks[header], program_.blocks[header].condition);
      if (ends_soon(header, back.from, *test)) continue;
      if (latches[header] == 1) find_strip(header, back.from, statements);
      if (strips_.contains(header)) continue;
      if (program_.blocks[back.from].poll == 0) {
        optional_polls_.emplace(back.from, back.which);
        continue;
      }
    }
    polls_.emplace(std::pair(back.from, back.which), is_short ? Turns() : turns_of_loop(back.loop, headers));
  }
}

// What an iteration of a loop counts for. `headers`: of all loops; those within this one are asked themselves.
Turns ControlFunction::turns_of_loop(const std::vector<size_t>& blocks, const std::set<size_t>& headers) const {
  Turns out;
  for (size_t block : blocks) {
    if (block != blocks.front() && headers.contains(block)) out.fixed += turns_of_inner_loop;
    for (const BlockStep& step : program_.blocks[block].steps) {
      for (const Stmt& stmt : step.body)
        if (is_for_caller(stmt.kind)) out.fixed += stmt.kind == StmtKind::draw ? turns_of_draw : turns_of_call;
      if (step.kind != StepKind::nest) continue;
      const Nest& nest = program_.nests[static_cast<size_t>(step.nest)];
      out.fixed += calls_solver(nest.body) ? turns_of_call : turns_of_nest;
      if (nest.work.id >= 0) out.work.push_back(nest.work);
    }
  }
  return out;
}

std::string ControlFunction::turns_text(const Turns& turns) {
  std::string out = std::to_string(turns.fixed);
  for (Dim work : turns.work) out += cat(" + turns_of(", dim(work), ")");
  return out;
}

// What computes a temp that the block sets; null when it is something else.
const Stmt* ControlFunction::computation(const ProgramBlock& block, TempId temp) const {
  for (const BlockStep& step : block.steps)
    for (const Stmt& stmt : step.body)
      if (stmt.kind == StmtKind::assign && stmt.dst == temp) temp = stmt.args[0];
  const Stmt* stmt = temp >= 0 ? copy_.facts.definition(temp) : nullptr;
  return stmt && stmt->kind == StmtKind::compute ? stmt : nullptr;
}

// Whether the header compares a counter that the latch changes by a constant.
bool ControlFunction::is_counted(size_t header, size_t latch) const {
  const ProgramBlock& block = program_.blocks[header];
  const Stmt* test = computation(block, block.condition);
  if (!test || test->args.size() != 2) return false;
  for (const Edge& edge : program_.blocks[latch].edges) {
    if (edge.target != static_cast<int>(header)) continue;
    for (const auto& [param, value] : edge.scalars) {
      const Stmt* change = computation(program_.blocks[latch], value);
      bool steps = change && (change->op == Op::add || change->op == Op::subtract);
      if (param == test->args[0] && steps && dtype(param) == DType::int64) return true;
    }
  }
  return false;
}

// The loop goes on while its counter is before both its end and the strip's. Requires a header that compares the two.
void ControlFunction::find_strip(size_t header, size_t latch, size_t statements) {
  const ProgramBlock& block = program_.blocks[header];
  const Stmt* test = computation(block, block.condition);
  if (header == 0 || block.end != BlockEnd::branch || (test->op != Op::less && test->op != Op::greater)) return;
  if (dtype(test->args[0]) != DType::int64 || dtype(test->args[1]) != DType::int64) return;
  auto may_repeat = [](const BlockStep& step) {
    return std::all_of(step.body.begin(), step.body.end(), [](const Stmt& stmt) {
      return is_number(stmt.kind) || stmt.kind == StmtKind::bind || stmt.kind == StmtKind::assign;
    });
  };
  if (header == latch || !std::all_of(block.steps.begin(), block.steps.end(), may_repeat)) return;
  if (!is_inside(latch, block.edges[0].target, header)) return;
  const int64_t step = step_of(header, latch, test->args[0]);
  if (step == 0 || (step > 0) != (test->op == Op::less)) return;
  const long length = std::max<long>(1, strip_length / static_cast<long>(1 + statements / statements_of_strip));
  if (step > (1 << 20) || step < -(1 << 20)) return;
  const Stmt* end = copy_.facts.definition(test->args[1]);
  const bool is_fixed = end != nullptr && end->kind == StmtKind::index && program_.is_known_at_start(end->dim);
  strips_.emplace(header,
                  Strip{latch, length * static_cast<long>(step), test->args[0], test->args[1], is_fixed ? end->dim : Dim{}});
}

// The number that a temp, perhaps one that the block assigns, is in every run.
std::optional<int64_t> ControlFunction::known_number(const ProgramBlock& block, TempId temp) const {
  for (const BlockStep& step : block.steps)
    for (const Stmt& stmt : step.body)
      if (stmt.kind == StmtKind::assign && stmt.dst == temp) temp = stmt.args[0];
  const Stmt* stmt = copy_.facts.definition(temp);
  if (stmt && stmt->kind == StmtKind::index) return copy_.dims.as_constant(stmt->dim);
  bool is_constant = stmt && stmt->kind == StmtKind::constant && stmt->literal.dtype == DType::int64;
  return is_constant ? std::optional(stmt->literal.as_int()) : std::nullopt;
}

// Whether a counted loop is known to have few iterations.
bool ControlFunction::ends_soon(size_t header, size_t latch, const Stmt& test) const {
  const std::optional<int64_t> end = known_number(program_.blocks[header], test.args[1]);
  auto is_near = [](std::optional<int64_t> number) { return number && *number <= strip_length && *number >= -strip_length; };
  if (!is_near(end)) return false;
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    for (int k = 0; b != latch && k < edge_count(program_.blocks[b]); ++k) {
      const Edge& edge = program_.blocks[b].edges[k];
      if (edge.target != static_cast<int>(header)) continue;
      auto starts = [&](const auto& pair) { return pair.first == test.args[0]; };
      auto start = std::find_if(edge.scalars.begin(), edge.scalars.end(), starts);
      if (start == edge.scalars.end() || !is_near(known_number(program_.blocks[b], start->second))) return false;
    }
  }
  return true;
}

// What the latch adds to the counter; 0: that is no constant.
int64_t ControlFunction::step_of(size_t header, size_t latch, TempId counter) const {
  for (const Edge& edge : program_.blocks[latch].edges) {
    if (edge.target != static_cast<int>(header)) continue;
    for (const auto& [param, value] : edge.scalars) {
      if (param != counter) continue;
      const Stmt* change = computation(program_.blocks[latch], value);
      const bool adds = change && (change->op == Op::add || change->op == Op::subtract) && change->args[0] == counter;
      const Stmt* by = adds ? copy_.facts.definition(change->args[1]) : nullptr;
      if (!by || by->kind != StmtKind::constant || by->literal.dtype != DType::int64) return 0;
      return change->op == Op::add ? by->literal.as_int() : -by->literal.as_int();
    }
  }
  return 0;
}

// Whether the block leads to the latch without passing the header.
bool ControlFunction::is_inside(size_t latch, int block, size_t header) const {
  std::set<size_t> seen = {header};
  std::vector<size_t> open = {static_cast<size_t>(block)};
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (at == latch) return true;
    if (!seen.insert(at).second) continue;
    for (int k = 0; k < edge_count(program_.blocks[at]); ++k)
      open.push_back(static_cast<size_t>(program_.blocks[at].edges[k].target));
  }
  return false;
}

void ControlFunction::end_strip(size_t number) {
  const Strip& strip = strips_.at(number);
  const std::string counter = temp_name(strip.counter), end = temp_name(strip.end),
                    until = cat("strip", static_cast<long>(number));
  const std::string before = strip.length > 0 ? " < " : " > ";
  const std::string nearer = cat("(", end, before, until, " ? ", end, " : ", until, ")");
  // What is compared with the end is where the strip ends: g++ would carry a comparison of the counter through the loop.
  code_.open(cat("if (", counter, before, strip.fixed_end.id < 0 ? nearer : until, ")"));
  go(number, 0);
  code_.close();
  code_.open(cat("if (", until, before, end, ")"));
  write_poll(strip.latch, "");
  code_.line(cat("goto s", static_cast<long>(number), ";"));
  code_.close();
  go(number, 1);
}

// Where the condition does not hold the run is asked whether it is to end.
void ControlFunction::write_poll(size_t from, const std::string& condition) {
  const int exit = loop_ ? 0 : program_.blocks[from].poll;
  if (exit == 0) return stop_unless(cat(condition, "(turns = turns_before_failure(frame)) > 0"));
  code_.open(cat("if (!(", condition, "(turns = turns_before_exit(frame, 1)) > 0))"));
  code_.line(cat("if (!must_stop(frame, ", events_text(), ")) frame->exit = ", exit, ";"));
  code_.line("goto done;");
  code_.close();
}

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
