#include "codegen/analysis/polls.h"

#include <algorithm>

namespace accel {

namespace {

constexpr long strip_length = 1 << 16;  // of a loop of a few statements: some 50 microseconds
constexpr size_t statements_of_strip = 16;
constexpr int64_t largest_step = 1 << 20;
// Costs of steps in units of an iteration of a few statements (PollCost).
constexpr int cost_of_nest = 64, cost_of_inner_loop = 1024, cost_of_draw = 16;
constexpr int cost_of_call = 1 << 14;  // its duration is unknown

// Whether a nest calls one of NumPy's functions of whole matrices.
bool calls_solver(const Body& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const Stmt& stmt) { return stmt.kind == StmtKind::gufunc || calls_solver(stmt.body); });
}

bool calls(const Stmt& stmt) { return is_for_caller(stmt.kind) && stmt.kind != StmtKind::interrupted; }

// A back edge, and the blocks on the path from the loop's header to it.
struct BackEdge {
  size_t from;
  int which;
  std::vector<size_t> loop;
  size_t header() const { return loop.front(); }
};

class PollFinder {
 public:
  PollFinder(const Program& program, const Facts& facts) : program_(program), facts_(facts) {}

  Polls run() {
    find_back_edges();
    out_.has_loops = !edges_.empty();
    for (const BackEdge& back : edges_) ++latches_[back.header()];
    for (const BackEdge& back : edges_) place_poll(back);
    return std::move(out_);
  }

 private:
  void find_back_edges();
  void place_poll(const BackEdge& back);
  bool is_short(const BackEdge& back) const;
  bool polls_otherwise(const BackEdge& back, bool is_explicit);
  PollCost cost_of_iteration(const BackEdge& back) const;
  bool is_counted(size_t header, size_t latch) const;
  void find_strip(const BackEdge& back);
  std::optional<int64_t> constant_number(const ProgramBlock& block, TempId temp) const;
  bool ends_soon(size_t header, size_t latch) const;
  int64_t step_of(size_t header, size_t latch, TempId counter) const;
  bool is_inside(size_t latch, int block, size_t header) const;
  const Stmt* computation(const ProgramBlock& block, TempId temp) const;
  const Stmt* test_of(size_t header) const { return computation(program_.blocks[header], program_.blocks[header].condition); }
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }

  const Program& program_;
  const Facts& facts_;
  Polls out_;
  std::vector<BackEdge> edges_;
  std::set<size_t> headers_;
  std::map<size_t, int> latches_;  // by header
};

void PollFinder::find_back_edges() {
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::pair<size_t, int>> path = {{0, 0}};
  seen[0] = true;
  while (!path.empty()) {
    auto [block, next] = path.back();
    if (next == static_cast<int>(edges_of(program_.blocks[block]).size())) {
      path.pop_back();
      continue;
    }
    ++path.back().second;
    size_t target = static_cast<size_t>(program_.blocks[block].edges[next].target);
    auto start = std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == target; });
    if (start != path.end()) {
      headers_.insert(target);
      out_.back_edges.emplace(block, next);
      BackEdge& back = edges_.emplace_back(BackEdge{block, next, {}});
      for (; start != path.end(); ++start) back.loop.push_back(start->first);
    } else if (!seen[target]) {
      seen[target] = true;
      path.emplace_back(target, 0);
    }
  }
}

// Back edges poll for interruption. Innermost counted loops poll after each strip instead.
void PollFinder::place_poll(const BackEdge& back) {
  const bool is_explicit = polls_explicitly(facts_, program_.blocks[back.from]), brief = is_short(back);
  if (is_explicit) out_.explicit_polls[program_.blocks[back.from].condition] = cost_of_iteration(back);
  if (brief && is_counted(back.header(), back.from) && polls_otherwise(back, is_explicit)) return;
  if (!is_explicit) out_.edges.emplace(std::pair(back.from, back.which), brief ? PollCost() : cost_of_iteration(back));
}

// Whether an iteration has no loop in it and calls nothing.
bool PollFinder::is_short(const BackEdge& back) const {
  return std::all_of(back.loop.begin(), back.loop.end(), [&](size_t block) {
    const std::vector<BlockStep>& steps = program_.blocks[block].steps;
    return (block == back.header() || !headers_.contains(block)) &&
           std::all_of(steps.begin(), steps.end(), [](const BlockStep& step) {
             return step.kind == StepKind::scalars && std::none_of(step.body.begin(), step.body.end(), calls);
           });
  });
}

// Whether a short counted loop ends soon, runs in strips, or need not poll.
bool PollFinder::polls_otherwise(const BackEdge& back, bool is_explicit) {
  if (ends_soon(back.header(), back.from)) {
    if (is_explicit) out_.explicit_polls.erase(program_.blocks[back.from].condition);
    return true;
  }
  if (latches_[back.header()] == 1) find_strip(back);
  if (out_.strips.contains(back.header())) return true;
  if (is_explicit || program_.blocks[back.from].poll != 0) return false;
  out_.optional_edges.emplace(back.from, back.which);
  return true;
}

// The cost of an iteration of a loop. Inner loops count once, as they poll by themselves.
PollCost PollFinder::cost_of_iteration(const BackEdge& back) const {
  PollCost out;
  for (size_t block : back.loop) {
    if (block != back.header() && headers_.contains(block)) out.fixed += cost_of_inner_loop, out.has_loops = true;
    for (const BlockStep& step : program_.blocks[block].steps) {
      for (const Stmt& stmt : step.body)
        if (calls(stmt)) out.fixed += stmt.kind == StmtKind::draw ? cost_of_draw : cost_of_call;
      if (step.kind != StepKind::nest) continue;
      const Nest& nest = program_.nests[static_cast<size_t>(step.nest)];
      out.fixed += calls_solver(nest.body) ? cost_of_call : cost_of_nest;
      if (nest.work.id >= 0) out.work.push_back(nest.work);
    }
  }
  return out;
}

// What computes a temp that the block sets; null when it is something else.
const Stmt* PollFinder::computation(const ProgramBlock& block, TempId temp) const {
  for (const BlockStep& step : block.steps)
    for (const Stmt& stmt : step.body)
      if (stmt.kind == StmtKind::assign && stmt.dst == temp) temp = stmt.args[0];
  const Stmt* stmt = temp >= 0 ? facts_.definition(temp) : nullptr;
  return stmt && stmt->kind == StmtKind::compute ? stmt : nullptr;
}

// Whether the header compares an int64 that the latch adds to or subtracts from.
bool PollFinder::is_counted(size_t header, size_t latch) const {
  const Stmt* test = test_of(header);
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
void PollFinder::find_strip(const BackEdge& back) {
  const size_t header = back.header(), latch = back.from;
  const ProgramBlock& block = program_.blocks[header];
  const Stmt* test = test_of(header);
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
  if (step > largest_step || step < -largest_step) return;
  size_t statements = 0;
  for (size_t each : back.loop)
    for (const BlockStep& part : program_.blocks[each].steps) statements += part.body.size();
  const long length = std::max<long>(1, strip_length / static_cast<long>(1 + statements / statements_of_strip));
  const long added = static_cast<long>(step);
  const Stmt* end = facts_.definition(test->args[1]);
  const bool is_fixed = end != nullptr && end->kind == StmtKind::index && program_.is_known_at_start(end->dim);
  const Dim fixed_end = is_fixed ? end->dim : Dim{};
  out_.strips.emplace(header, Strip{latch, added, length * added, test->args[0], test->args[1], fixed_end});
}

// The number that a temp, perhaps one that the block assigns, is in every run.
std::optional<int64_t> PollFinder::constant_number(const ProgramBlock& block, TempId temp) const {
  for (const BlockStep& step : block.steps)
    for (const Stmt& stmt : step.body)
      if (stmt.kind == StmtKind::assign && stmt.dst == temp) temp = stmt.args[0];
  const Stmt* stmt = facts_.definition(temp);
  if (stmt && stmt->kind == StmtKind::index) return program_.dims.as_constant(stmt->dim);
  bool is_constant = stmt && stmt->kind == StmtKind::constant && stmt->literal.dtype == DType::int64;
  return is_constant ? std::optional(stmt->literal.as_int()) : std::nullopt;
}

// Whether a counted loop is known to have few iterations.
bool PollFinder::ends_soon(size_t header, size_t latch) const {
  const Stmt& test = *test_of(header);
  const std::optional<int64_t> end = constant_number(program_.blocks[header], test.args[1]);
  auto is_near = [](std::optional<int64_t> number) { return number && *number <= strip_length && *number >= -strip_length; };
  const int64_t step = step_of(header, latch, test.args[0]);
  const bool up = test.op == Op::less || test.op == Op::less_equal,
             down = test.op == Op::greater || test.op == Op::greater_equal;
  if (!is_near(end) || !((up && step > 0) || (down && step < 0))) return false;
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    for (const Edge& edge : edges_of(program_.blocks[b])) {
      if (b == latch || edge.target != static_cast<int>(header)) continue;
      auto starts = [&](const auto& pair) { return pair.first == test.args[0]; };
      auto start = std::find_if(edge.scalars.begin(), edge.scalars.end(), starts);
      if (start == edge.scalars.end() || !is_near(constant_number(program_.blocks[b], start->second))) return false;
    }
  }
  return true;
}

// What the latch adds to the counter; 0: that is no constant.
int64_t PollFinder::step_of(size_t header, size_t latch, TempId counter) const {
  for (const Edge& edge : program_.blocks[latch].edges) {
    if (edge.target != static_cast<int>(header)) continue;
    for (const auto& [param, value] : edge.scalars) {
      if (param != counter) continue;
      const Stmt* change = computation(program_.blocks[latch], value);
      const bool adds = change && (change->op == Op::add || change->op == Op::subtract) && change->args[0] == counter;
      const Stmt* by = adds ? facts_.definition(change->args[1]) : nullptr;
      if (!by || by->kind != StmtKind::constant || by->literal.dtype != DType::int64) return 0;
      return change->op == Op::add ? by->literal.as_int() : -by->literal.as_int();
    }
  }
  return 0;
}

// Whether the block leads to the latch without passing the header.
bool PollFinder::is_inside(size_t latch, int block, size_t header) const {
  std::set<size_t> seen = {header};
  std::vector<size_t> open = {static_cast<size_t>(block)};
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (at == latch) return true;
    if (!seen.insert(at).second) continue;
    for (const Edge& edge : edges_of(program_.blocks[at])) open.push_back(static_cast<size_t>(edge.target));
  }
  return false;
}

}  // namespace

Polls find_polls(const Program& program, const Facts& facts) { return PollFinder(program, facts).run(); }

bool polls_explicitly(const Facts& facts, const ProgramBlock& block) {
  const Stmt* condition = block.end == BlockEnd::branch ? facts.definition(block.condition) : nullptr;
  return condition != nullptr && condition->kind == StmtKind::interrupted;
}

std::optional<size_t> explicit_poll_of(const Program& program, const Facts& facts, const ProgramBlock& exit) {
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const ProgramBlock& block = program.blocks[b];
    if (polls_explicitly(facts, block) && &program.blocks[static_cast<size_t>(block.edges[0].target)] == &exit) return b;
  }
  return std::nullopt;
}

}  // namespace accel
