// Integers that are known at run time only: symbols bound by the graph, what is known of them, checks that leave compiled code.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "capture/interpreter/interpreter.h"
#include "ndarray/array.h"

namespace accel {

namespace {

constexpr int deepest_proof = 8;
constexpr size_t most_goals_of_proof = 500;  // beyond this a relation counts as unknown

Op op_of(Comparison comparison) {
  static constexpr Op table[] = {Op::equal, Op::not_equal, Op::less, Op::less_equal, Op::greater, Op::greater_equal};
  return table[static_cast<size_t>(comparison)];
}

Comparison inverse_of(Comparison comparison) {
  static constexpr Comparison table[] = {Comparison::ne, Comparison::eq, Comparison::ge,
                                         Comparison::gt, Comparison::le, Comparison::lt};
  return table[static_cast<size_t>(comparison)];
}

}  // namespace

Dim Capture::bind_dim(ValueId value, std::string name, int64_t hint, double low, double high) {
  int symbol = add_symbol(std::move(name), hint, {low, high});
  runtime_symbols_.insert(symbol);
  Dim d = dims().symbol(symbol);
  builder_.bind(d, value);
  return d;
}

bool Capture::is_runtime(Dim d) const {
  if (runtime_symbols_.empty()) return false;
  std::vector<int> symbols = graph_.dims.symbols(d);
  return std::any_of(symbols.begin(), symbols.end(), [&](int symbol) { return is_bound(symbol); });
}

Relation Capture::inverse(const Relation& relation) { return {relation.left, relation.right, inverse_of(relation.comparison)}; }

void Capture::assume(const Relation& relation) {
  const auto& [left, right, comparison] = relation;
  if (is_far_apart(left, right)) return;
  for (Dim sum : implied_sums(dims(), left, comparison, right)) facts_.push_back(sum);
  if (comparison == Comparison::ne) assume_apart(dims().sub(right, left), dims().sub(left, right));
}

// Of a difference that is known not to have one sign: it is not 0 either.
void Capture::assume_apart(Dim up, Dim down) {
  may_guard_ = false;
  for (Dim difference : {up, down}) {
    if (prove(difference)) facts_.push_back(dims().sub(difference, dims().constant(1)));
  }
  may_guard_ = true;
}

bool Capture::prove(Dim d) {
  std::map<int32_t, int> failed;
  return prove_by_facts(d, deepest_proof, failed);
}

bool Capture::knows(Dim d) {
  bool may_guard = std::exchange(may_guard_, false);
  bool known = prove(d);
  may_guard_ = may_guard;
  return known;
}

// Different orders of elimination come to the same goals: each is tried once for a depth.
bool Capture::prove_by_facts(Dim d, int depth, std::map<int32_t, int>& failed) {
  auto known = failed.find(d.id);
  if (known != failed.end() && known->second >= depth) return false;
  if (failed.size() >= most_goals_of_proof) return false;
  if (eliminate_newest(d, depth, failed)) return true;
  failed[d.id] = depth;
  return false;
}

// Eliminates the newest run-time symbol by a fact that bounds it on the side that matters.
bool Capture::eliminate_newest(Dim d, int depth, std::map<int32_t, int>& failed) {
  DimTable& table = dims();
  auto says = [&](Dim fact) { return forms_.difference(d, fact).value_or(-1) >= 0; };
  if (range_of(d).low >= 0 || std::any_of(facts_.begin(), facts_.end(), says)) return true;
  std::vector<int> symbols = table.symbols(d);
  while (!symbols.empty() && !is_bound(symbols.back())) symbols.pop_back();
  if (symbols.empty()) {
    if (table.as_constant(d)) return *table.as_constant(d) >= 0;
    uint8_t signs = signs_of(d);
    if ((signs & sign_negative) == 0) return true;
    return may_guard_ && hint(d) >= 0 && decide(d, Comparison::ge, table.constant(0));
  }
  if (depth == 0) return false;
  for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); ++symbol) {
    if (!is_bound(*symbol)) continue;
    std::optional<int64_t> wanted = forms_.coefficient(d, *symbol);
    if (!wanted) continue;
    for (size_t i = facts_.size(); i-- > 0;) {
      std::optional<int64_t> told = forms_.coefficient(facts_[i], *symbol);
      if (!told || *told == 0 || *wanted % *told != 0) continue;
      int64_t times = *wanted / *told;
      if (times <= 0) continue;
      if (prove_by_facts(table.sub(d, table.mul(facts_[i], times)), depth - 1, failed)) return true;
    }
    const Range& range = symbol_ranges_[static_cast<size_t>(*symbol)];
    double least = *wanted > 0 ? range.low : range.high;
    if (*wanted == 0 || std::fabs(least) > static_cast<double>(runtime_limit)) return false;
    return prove_by_facts(table.substitute(d, *symbol, static_cast<int64_t>(least)), depth - 1, failed);
  }
  return false;
}

std::optional<bool> Capture::known_relation(Dim left, Comparison comparison, Dim right) {
  if (is_far_apart(left, right)) return told_by_ranges(left, comparison, right);
  DimTable& table = dims();
  Dim up = table.sub(right, left), down = table.sub(left, right), one = table.constant(1);
  auto less = [&] { return prove(table.sub(up, one)); };
  auto greater = [&] { return prove(table.sub(down, one)); };
  switch (comparison) {
    case Comparison::lt:
      if (less()) return true;
      if (prove(down)) return false;
      break;
    case Comparison::ge:
      if (prove(down)) return true;
      if (less()) return false;
      break;
    case Comparison::gt:
      if (greater()) return true;
      if (prove(up)) return false;
      break;
    case Comparison::le:
      if (prove(up)) return true;
      if (greater()) return false;
      break;
    case Comparison::eq:
    case Comparison::ne:
      if (knows(up) && knows(down)) return comparison == Comparison::eq;
      if (less() || greater()) return comparison == Comparison::ne;
      break;
  }
  return std::nullopt;
}

std::optional<bool> Capture::told_by_facts(Dim left, Comparison comparison, Dim right) {
  bool may_guard = std::exchange(may_guard_, false);
  std::optional<bool> told = known_relation(left, comparison, right);
  may_guard_ = may_guard;
  return told;
}

// What cannot be proved is assumed to be as the hints have it; compiled code checks that and leaves when it is not so.
bool Capture::decide_runtime(Dim left, Comparison comparison, Dim right) {
  if (auto known = known_relation(left, comparison, right)) return *known;
  int64_t l = hint(left), r = hint(right);
  static constexpr bool table[6][3] = {{false, true, false}, {true, false, true},  {true, false, false},
                                       {true, true, false},  {false, false, true}, {false, true, true}};
  bool likely = table[static_cast<size_t>(comparison)][l < r ? 0 : l == r ? 1 : 2];
  if (assumptions_ != nullptr && assumptions_->both_) {
    assumptions_->open_ = true;
    return likely;
  }
  Reason reason = assumptions_ != nullptr ? assumptions_->reason_ : Reason::assumption_failed;
  require_relation({left, right, likely ? comparison : inverse_of(comparison)}, reason);
  return likely;
}

Capture::Assumptions::Assumptions(Capture& capture, Reason reason)
    : capture_(capture), outer_(capture.assumptions_), reason_(reason), both_(capture.plan_.learned.contains(reason)) {
  capture.assumptions_ = this;
}

Capture::Assumptions::~Assumptions() { capture_.assumptions_ = outer_; }

void Capture::require_relation(const Relation& relation, Reason reason) {
  Status required =
      require(compare_at_run_time(relation, ValueKind::py_scalar), reason, "a relation of sizes: " + relation_text(relation));
  if (!required.ok()) throw Abandoned{required.failure()};
  assume(relation);
}

Dim Capture::from_start(Dim at, Dim length, bool may_assume) {
  Dim zero = dims().constant(0), wrapped = dims().add(at, length);
  if (!is_runtime(at)) return decide(at, Comparison::lt, zero) ? wrapped : at;
  if (auto negative = known_relation(at, Comparison::lt, zero)) return *negative ? wrapped : at;
  if (may_assume && !plan_.learned.contains(Reason::index_sign)) {
    bool negative = hint(at) < 0;
    require_relation({at, zero, negative ? Comparison::lt : Comparison::ge}, Reason::index_sign);
    return negative ? wrapped : at;
  }
  auto compute = [&](Op op, std::vector<ValueId> operands) {
    return builder_.pointwise(op, std::move(operands), {DType::int64}, ValueKind::py_scalar);
  };
  ValueId given = builder_.dim(at), is_negative = compare_at_run_time({at, zero, Comparison::lt}, ValueKind::py_scalar);
  // The sum fits int64 also where it is not chosen.
  ValueId behind = compute(Op::minimum, {given, builder_.dim(dims().constant(-1))});
  ValueId sum = compute(Op::add, {behind, builder_.dim(length)});
  int64_t likely = hint(hint(at) < 0 ? wrapped : at);
  return bind_dim(compute(Op::where, {is_negative, sum, given}), "index", likely, -9.3e18, 9.3e18);
}

bool Capture::is_within_limit(int symbol) {
  Dim own = dims().symbol(symbol), limit = dims().constant(runtime_limit);
  return prove(dims().sub(limit, own)) && prove(dims().add(own, limit));
}

bool Capture::assume_fits(Dim d) {
  if (fits(d)) return true;
  Dim above = dims().constant(runtime_limit), below = dims().constant(-runtime_limit);
  for (int symbol : dims().symbols(d)) {
    if (!is_bound(symbol) || is_within_limit(symbol)) continue;
    require_relation({dims().symbol(symbol), above, Comparison::le});
    require_relation({dims().symbol(symbol), below, Comparison::ge});
  }
  return fits(d);
}

bool Capture::is_known_equal(Dim left, Dim right) {
  Dim difference = dims().sub(left, right);
  if (auto value = dims().as_constant(difference)) return *value == 0;
  return knows(difference) && knows(dims().sub(right, left));
}

bool Capture::assume_equal(Dim left, Dim right) {
  if (is_known_equal(left, right)) return true;
  if (auto known = known_relation(left, Comparison::eq, right)) return *known;
  require_relation({left, right, Comparison::eq});
  return true;
}

bool Capture::expect(Dim left, Comparison comparison, Dim right) {
  if (!is_runtime(left) && !is_runtime(right)) return decide(left, comparison, right);
  if (comparison == Comparison::eq) return assume_equal(left, right);
  if (auto known = known_relation(left, comparison, right)) return *known;
  require_relation({left, right, comparison});
  return true;
}

ValueId Capture::compare_at_run_time(const Relation& relation, ValueKind kind) {
  ValueId left = builder_.dim(relation.left), right = builder_.dim(relation.right);
  return builder_.pointwise(op_of(relation.comparison), {left, right}, {DType::bool_}, kind);
}

bool Capture::in_library() const { return interpreter_ != nullptr && interpreter_->in_library(); }

bool Capture::in_loop() const { return interpreter_ != nullptr && interpreter_->in_loop(); }

std::vector<Ref> Capture::alive() const { return interpreter_ == nullptr ? std::vector<Ref>() : interpreter_->alive(); }

bool Capture::may_fork(Dim d) const {
  if (interpreter_ == nullptr) return false;
  return is_runtime(d) ? interpreter_->may_fork() : interpreter_->may_fork_on_sizes();
}

Ref Capture::compare_dims(Dim left, Comparison comparison, Dim right, ValueKind kind) {
  auto constant_bool = [&](bool value) {
    if (kind == ValueKind::py_scalar) return constant(value ? Py_True : Py_False);
    return constant(PyRef::steal(new_numpy_scalar(DType::bool_, &value)).get());
  };
  if (is_far_apart(left, right)) {
    if (auto told = told_by_ranges(left, comparison, right)) return constant_bool(*told);
  }
  Dim difference = dims().sub(left, right);
  if (dims().as_constant(difference)) return constant_bool(decide(left, comparison, right));
  if (is_runtime(difference)) {
    // A branch in the code is no reason to ask for more of the arguments.
    if (auto told = told_by_facts(left, comparison, right)) return constant_bool(*told);
  }
  if (!may_fork(difference)) return constant_bool(decide(left, comparison, right));
  Relation relation{left, right, comparison};
  Ref result = scalar(compare_at_run_time(relation, kind));
  result->scalar.relation = relation;
  return result;
}

Status Capture::require(ValueId condition, Reason reason, std::string detail) {
  if (interpreter_ == nullptr) return fail(Reason::data_dependent_branch, detail);
  return interpreter_->leave_unless(condition, reason, std::move(detail));
}

std::vector<Ref> Capture::mutable_sources() const {
  std::vector<Ref> found;
  for (const auto& [source, value] : at_) {
    if (value->kind == AbstractKind::array || value->kind == AbstractKind::scalar) found.push_back(value);
  }
  std::sort(found.begin(), found.end(), [](const Ref& left, const Ref& right) { return left->source < right->source; });
  found.insert(found.end(), changes_.all().begin(), changes_.all().end());
  return found;
}

void Capture::forget_caches(const std::vector<Ref>& kept) {
  std::set<const AbstractValue*> saved;
  for (const Ref& value : kept) saved.insert(value.get());
  changes_.forget(saved);
  for (const auto& [source, value] : at_) {
    if (saved.count(value.get()) != 0) continue;
    if (value->kind == AbstractKind::array) {
      value->array.value = no_value;
      value->array.version = 0;
      value->array.storage->current = no_value;
      value->array.storage->version = 0;
    } else if (value->kind == AbstractKind::scalar && value->scalar.dim) {
      value->scalar.value = no_value;
    }
  }
}

}  // namespace accel
