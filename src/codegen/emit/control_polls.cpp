// Where loops of the control flow ask whether the run is interrupted: at which edges, how often, and what they do then.

#include <algorithm>

#include "codegen/emit/control_function.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

// Code without loops that has more buffers takes memory by calls.
constexpr size_t most_held_in_line = 32;
constexpr long strip_length = 1 << 16;  // of a loop of a few statements: some 50 microseconds
constexpr size_t statements_of_strip = 16;
// The time of an iteration is counted in turns: an iteration of a few statements takes one, and each of these steps so many.
constexpr int turns_of_nest = 64, turns_of_inner_loop = 1024, turns_of_draw = 16;
constexpr int turns_of_call = 1 << 14;  // nobody knows how long it takes

// Whether a nest calls one of NumPy's functions of whole matrices.
bool calls_solver(const Body& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const Stmt& stmt) { return stmt.kind == StmtKind::gufunc || calls_solver(stmt.body); });
}

bool calls(const Stmt& stmt) { return is_for_caller(stmt.kind) && stmt.kind != StmtKind::interrupted; }

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

// Back edges ask whether the run is interrupted. Innermost loops that count ask after each strip instead.
void ControlFunction::find_polls() {
  struct Back {
    size_t from;
    int which;
    std::vector<size_t> loop;  // blocks on the path from the header to `from`
  };
  std::vector<Back> edges;
  std::set<size_t> headers;
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::pair<size_t, int>> path = {{0, 0}};
  seen[0] = true;
  while (!path.empty()) {
    auto [block, next] = path.back();
    if (next == edge_count(program_.blocks[block])) {
      path.pop_back();
      continue;
    }
    ++path.back().second;
    size_t target = static_cast<size_t>(program_.blocks[block].edges[next].target);
    auto start = std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == target; });
    if (start != path.end()) {
      headers.insert(target);
      back_edges_.emplace(block, next);
      Back& back = edges.emplace_back(Back{block, next, {}});
      for (; start != path.end(); ++start) back.loop.push_back(start->first);
    } else if (!seen[target]) {
      seen[target] = true;
      path.emplace_back(target, 0);
    }
  }
  has_loops_ = !edges.empty();
  holds_by_call_ = edges.empty() && program_.buffers.size() > most_held_in_line;
  // An iteration without a loop in it, that calls nothing, is short.
  std::map<size_t, int> latches;
  for (const Back& back : edges) ++latches[back.loop.front()];
  for (const Back& back : edges) {
    const size_t header = back.loop.front();
    const bool asks = asks_itself(program_.blocks[back.from]);
    bool is_short = true;
    size_t statements = 0;
    for (size_t block : back.loop) {
      is_short = is_short && (block == header || !headers.contains(block));
      for (const BlockStep& step : program_.blocks[block].steps) {
        statements += step.body.size();
        is_short = is_short && step.kind == StepKind::scalars && std::none_of(step.body.begin(), step.body.end(), calls);
      }
    }
    if (asks) questions_[program_.blocks[back.from].condition] = turns_of_loop(back.loop, headers);
    if (is_short && is_counted(header, back.from)) {
      const Stmt* test = computation(program_.blocks[header], program_.blocks[header].condition);
      if (ends_soon(header, back.from, *test)) {
        if (asks) questions_.erase(program_.blocks[back.from].condition);
        continue;
      }
      if (latches[header] == 1) find_strip(header, back.from, statements);
      if (strips_.contains(header)) continue;
      if (!asks && program_.blocks[back.from].poll == 0) {
        optional_polls_.emplace(back.from, back.which);
        continue;
      }
    }
    if (!asks) polls_.emplace(std::pair(back.from, back.which), is_short ? Turns() : turns_of_loop(back.loop, headers));
  }
}

// What an iteration of a loop counts for. `headers`: of all loops; those within this one are asked themselves.
Turns ControlFunction::turns_of_loop(const std::vector<size_t>& blocks, const std::set<size_t>& headers) const {
  Turns out;
  for (size_t block : blocks) {
    if (block != blocks.front() && headers.contains(block)) out.fixed += turns_of_inner_loop, out.has_loops = true;
    for (const BlockStep& step : program_.blocks[block].steps) {
      for (const Stmt& stmt : step.body)
        if (calls(stmt)) out.fixed += stmt.kind == StmtKind::draw ? turns_of_draw : turns_of_call;
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

// Whether the header compares an int64 that the latch adds to or subtracts from.
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
  const int64_t step = step_of(header, latch, test.args[0]);
  const bool up = test.op == Op::less || test.op == Op::less_equal,
             down = test.op == Op::greater || test.op == Op::greater_equal;
  if (!is_near(end) || !((up && step > 0) || (down && step < 0))) return false;
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

// The condition under which a latch asks whether the run is interrupted.
std::string ControlFunction::time_to_ask(TempId question) {
  auto found = questions_.find(question);
  if (found == questions_.end()) return "false";  // the loop ends soon
  for (const auto& [header, strip] : strips_) {
    const ProgramBlock& latch = program_.blocks[strip.latch];
    if (latch.condition != question) continue;
    const bool up = strip.length > 0;
    const std::string until = cat("strip", static_cast<long>(header));
    const long step = static_cast<long>(step_of(header, strip.latch, strip.counter));
    const std::string ends = cat(temp_name(strip.counter), " + ", step, up ? " >= " : " <= ", until);
    return strip.fixed_end.id < 0 ? ends : cat(ends, " && ", until, up ? " < " : " > ", "(i64)", dim(strip.fixed_end));
  }
  const Turns& turns = found->second;
  const std::string spent = cat("(turns -= ", turns_text(turns), ") <= 0");
  return turns.has_loops ? cat("(", spent, " || frame->has_asked)") : spent;
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
  if (!asks_itself(program_.blocks[strip.latch])) write_poll(strip.latch, "");
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

}  // namespace accel
