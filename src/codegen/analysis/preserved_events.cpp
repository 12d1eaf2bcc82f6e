#include "codegen/analysis/preserved_events.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "codegen/analysis/overwritten_stores.h"

namespace accel {

namespace {

// Whether a statement does nothing but give its temp a value.
bool only_moves(const Stmt& stmt) { return stmt.dst >= 0 && (stmt.kind == StmtKind::compute || stmt.kind == StmtKind::assign); }

using Temps = std::vector<bool>;

// Liveness: what is used for certain before a block's statements, from what is used after them. act(stmt, used) gets each with
// what is used after it. `undone`: stores that may be overwritten before they are read.
template <class Act>
void visit_backwards(const ProgramBlock& block, const std::set<const Stmt*>& undone, Temps& used, Act act) {
  for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) {
    for (auto stmt = step->body.rbegin(); stmt != step->body.rend(); ++stmt) {
      act(*stmt, used);
      if ((only_moves(*stmt) && !used[static_cast<size_t>(stmt->dst)]) || undone.contains(&*stmt)) continue;
      for (TempId arg : stmt->args) used[static_cast<size_t>(arg)] = true;
    }
  }
}

// What is used for certain after a block's statements: by its end and on all paths from there.
Temps used_after(const ProgramBlock& block, const std::vector<Temps>& before, size_t temps) {
  Temps out(temps, std::any_of(std::begin(block.edges), std::end(block.edges), [](const Edge& e) { return e.target >= 0; }));
  for (const Edge& edge : block.edges) {
    if (edge.target < 0) continue;
    Temps there = before[static_cast<size_t>(edge.target)];
    Temps here = there;
    for (const auto& [param, value] : edge.scalars) here[static_cast<size_t>(param)] = false;
    for (const auto& [param, value] : edge.scalars)
      if (there[static_cast<size_t>(param)]) here[static_cast<size_t>(value)] = true;
    for (size_t k = 0; k < temps; ++k) out[k] = out[k] && here[k];
  }
  if (block.condition >= 0) out[static_cast<size_t>(block.condition)] = true;
  for (const ExitOutput& output : block.outputs)
    if (output.scalar >= 0) out[static_cast<size_t>(output.scalar)] = true;
  return out;
}

void count_stores(const Program& program, const Body& body, std::map<BufferId, int>& counts) {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) ++counts[program.memory_of(stmt.address.buffer)];
    count_stores(program, stmt.body, counts);
  }
}

class PreservedEvents {
 public:
  PreservedEvents(const Program& program, const std::vector<const Stmt*>& definitions, bool quiet_comparisons)
      : program_(program),
        definitions_(definitions),
        quiet_comparisons_(quiet_comparisons),
        used_(program.temps.size(), false),
        parts_(program.temps.size(), no_part) {}

  std::set<TempId> run() {
    for (const Nest& nest : program_.nests) visit(nest.body);
    for (const ProgramBlock& block : program_.blocks) visit(block);
    use_sources();
    for (const Nest& nest : program_.nests) preserve_events_of_selections(nest.body);
    for (const ProgramBlock& block : program_.blocks)
      for (const BlockStep& step : block.steps) preserve_events_of_selections(step.body);
    preserve_events_of_stores();
    preserve_events_of_paths();
    return std::move(preserved_);
  }

 private:
  const Stmt* definition(TempId temp) const { return definitions_[static_cast<size_t>(temp)]; }
  void visit(const Body& body);
  void visit(const ProgramBlock& block);
  void use_sources();
  void preserve_events_of_stores();
  void for_each_unrolled_store(const Body& body, const std::function<void(const Stmt&)>& act) const;
  void preserve_events_of_paths();
  void preserve_sources(TempId temp);
  void preserve_events_of_selections(const Body& body);
  using Parts = uint8_t;
  static constexpr Parts no_part = 0, real_part = 1, imaginary_part = 2, both_parts = 3;
  Parts parts_used(const Stmt& stmt) const;
  bool drops_part(const Stmt& stmt) const;
  bool is_selection(const Stmt& stmt) const;

  const Program& program_;
  const std::vector<const Stmt*>& definitions_;
  bool quiet_comparisons_;
  std::vector<std::pair<TempId, TempId>> moves_;  // destination and source
  std::vector<bool> used_;                        // by what is seen outside
  std::vector<Parts> parts_;                      // of each complex temp that statements use
  std::set<TempId> preserved_;
  std::set<const Stmt*> undone_;   // stores that may be overwritten before they are read
  std::set<TempId> with_sources_;  // temps that preserve_sources has visited
};

void PreservedEvents::visit(const ProgramBlock& block) {
  auto use = [&](TempId temp) {
    if (temp < 0) return;
    used_[static_cast<size_t>(temp)] = true;
    parts_[static_cast<size_t>(temp)] = both_parts;
  };
  for (const BlockStep& step : block.steps) visit(step.body);
  use(block.condition);
  for (const Edge& edge : block.edges)
    for (const auto& [param, value] : edge.scalars) moves_.emplace_back(param, value);
  for (const ExitOutput& output : block.outputs) use(output.scalar);
}

void PreservedEvents::visit(const Body& body) {
  for (const Stmt& stmt : body) {
    bool moves = only_moves(stmt);
    const Parts parts = parts_used(stmt);
    for (TempId arg : stmt.args) {
      parts_[static_cast<size_t>(arg)] |= parts;
      if (moves)
        moves_.emplace_back(stmt.dst, arg);
      else
        used_[static_cast<size_t>(arg)] = true;
    }
    visit(stmt.body);
  }
}

// Numbers that only pass from iteration to iteration of a loop are not used: the C++ compiler drops them.
void PreservedEvents::use_sources() {
  std::vector<std::vector<TempId>> sources(used_.size());
  for (const auto& [to, from] : moves_) sources[static_cast<size_t>(to)].push_back(from);
  std::vector<size_t> open;
  for (size_t temp = 0; temp < used_.size(); ++temp)
    if (used_[temp]) open.push_back(temp);
  while (!open.empty()) {
    size_t temp = open.back();
    open.pop_back();
    for (TempId from : sources[temp]) {
      auto source = static_cast<size_t>(from);
      if (used_[source]) continue;
      used_[source] = true;
      open.push_back(source);
    }
  }
}

// The C++ compiler leaves out stores, and what they store, that other stores overwrite before anything reads them. In loops it
// does so where it sees all elements at once.
void PreservedEvents::preserve_events_of_stores() {
  std::map<BufferId, int> counts;
  for (const Nest& nest : program_.nests) count_stores(program_, nest.body, counts);
  for (const ProgramBlock& block : program_.blocks)
    for (const BlockStep& step : block.steps) count_stores(program_, step.body, counts);
  auto is_one_of_many = [&](const Stmt& store) { return counts[program_.memory_of(store.address.buffer)] > 1; };
  for (const Nest& nest : program_.nests)
    for_each_unrolled_store(nest.body, [&](const Stmt& store) {
      if (is_one_of_many(store)) preserve_sources(store.args[0]);
    });
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    const std::vector<BlockStep>& steps = program_.blocks[b].steps;
    for (size_t at = 0; at < steps.size(); ++at)
      for (size_t k = 0; k < steps[at].body.size(); ++k) {
        const Stmt& stmt = steps[at].body[k];
        if (is_store(stmt.kind) && may_be_overwritten(program_, {static_cast<int>(b), at, k})) undone_.insert(&stmt);
      }
  }
}

// Stores in loops whose extents are constants.
void PreservedEvents::for_each_unrolled_store(const Body& body, const std::function<void(const Stmt&)>& act) const {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) act(stmt);
    if (stmt.kind == StmtKind::loop && program_.dims.as_constant(stmt.extent)) for_each_unrolled_store(stmt.body, act);
  }
}

// The C++ compiler moves the computation of a number to the only path that uses it. Computations with events must stay on all
// paths.
void PreservedEvents::preserve_events_of_paths() {
  const size_t temps = used_.size();
  std::vector<Temps> before(program_.blocks.size(), Temps(temps, true));
  auto nothing = [](const Stmt&, const Temps&) {};
  for (bool again = true; again;) {
    again = false;
    for (size_t b = program_.blocks.size(); b-- > 0;) {
      Temps used = used_after(program_.blocks[b], before, temps);
      visit_backwards(program_.blocks[b], undone_, used, nothing);
      if (used == before[b]) continue;
      before[b] = std::move(used);
      again = true;
    }
  }
  for (const ProgramBlock& block : program_.blocks) {
    Temps used = used_after(block, before, temps);
    visit_backwards(block, undone_, used, [&](const Stmt& stmt, const Temps& after) {
      if (stmt.kind == StmtKind::compute && stmt.dst >= 0 && !after[static_cast<size_t>(stmt.dst)]) preserve_sources(stmt.dst);
    });
  }
}

void PreservedEvents::preserve_sources(TempId temp) {
  const Stmt* stmt = definition(temp);
  if (!stmt || stmt->kind != StmtKind::compute || !with_sources_.insert(temp).second) return;
  if (program_.own_events(*stmt) != 0) {
    preserved_.insert(temp);
    return;
  }
  for (TempId arg : stmt->args) preserve_sources(arg);
}

// The parts of a complex operand that a statement uses. An operation without events (a conjugate) counts as using none: what is
// used of its result decides.
PreservedEvents::Parts PreservedEvents::parts_used(const Stmt& stmt) const {
  if (stmt.kind != StmtKind::compute) return both_parts;
  if (stmt.op == Op::imag) return imaginary_part;
  const bool makes_real = dtype_kind(program_.temps[static_cast<size_t>(stmt.dst)]) != 'c';
  if (stmt.op == Op::real || (stmt.op == Op::astype && makes_real)) return real_part;
  return program_.own_events(stmt) != 0 ? both_parts : no_part;
}

// Whether a statement takes one part of a complex number whose other part is not used: the C++ compiler does not compute the
// unused part.
bool PreservedEvents::drops_part(const Stmt& stmt) const {
  const Parts parts = parts_used(stmt);
  if (parts != real_part && parts != imaginary_part) return false;
  const auto of = static_cast<size_t>(stmt.args[0]);
  return dtype_kind(program_.temps[of]) == 'c' && parts_[of] != both_parts;
}

bool PreservedEvents::is_selection(const Stmt& stmt) const {
  bool chooses = stmt.kind == StmtKind::compute && (stmt.op == Op::where || stmt.op == Op::lanes);
  chooses |= drops_part(stmt);
  bool combines = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold || stmt.kind == StmtKind::argreduce;
  return chooses || (quiet_comparisons_ && combines && signals_on_nan(stmt.op));
}

void PreservedEvents::preserve_events_of_selections(const Body& body) {
  for (const Stmt& stmt : body) {
    if (is_selection(stmt)) {
      for (TempId arg : stmt.args) preserve_sources(arg);
    } else if (stmt.kind == StmtKind::compute && stmt.op == Op::merge) {
      preserve_sources(stmt.args[2]);  // args[1] exists only where it is selected
    }
    if (stmt.dst >= 0 && !used_[static_cast<size_t>(stmt.dst)]) preserve_sources(stmt.dst);
    preserve_events_of_selections(stmt.body);
  }
}

}  // namespace

std::set<TempId> preserved_events(const Program& program, const std::vector<const Stmt*>& definitions, bool quiet_comparisons) {
  return PreservedEvents(program, definitions, quiet_comparisons).run();
}

}  // namespace accel
