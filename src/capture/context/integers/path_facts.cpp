#include "capture/context/integers/path_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "capture/context/context.h"

namespace accel {

namespace {

constexpr int deepest_proof = 8;
constexpr size_t most_goals_of_proof = 500;  // beyond this a relation counts as unknown

}  // namespace

PathFacts::PathFacts(Capture& capture) : capture_(capture), forms_(capture.dims()) {}

Dim PathFacts::bind_dim(ValueId value, std::string name, int64_t hint, double low, double high) {
  int symbol = capture_.ranges().add_symbol(std::move(name), hint, {low, high});
  runtime_symbols_.insert(symbol);
  Dim d = capture_.dims().symbol(symbol);
  capture_.build().bind(d, value);
  return d;
}

bool PathFacts::is_runtime(Dim d) const {
  if (runtime_symbols_.empty()) return false;
  std::vector<int> symbols = capture_.dims().symbols(d);
  return std::any_of(symbols.begin(), symbols.end(), [&](int symbol) { return is_bound(symbol); });
}

Relation PathFacts::inverse(const Relation& relation) {
  return {relation.left, relation.right, row_of(relation.comparison).inverse};
}

void PathFacts::assume(const Relation& relation) {
  const auto& [left, right, comparison] = relation;
  if (capture_.ranges().is_far_apart(left, right)) return;
  for (Dim sum : implied_sums(capture_.dims(), left, comparison, right)) facts_.push_back(sum);
  if (comparison == Comparison::ne) assume_apart(capture_.dims().sub(right, left), capture_.dims().sub(left, right));
}

// For a difference known to be nonzero: if it is known to be >= 0 it is > 0.
void PathFacts::assume_apart(Dim up, Dim down) {
  may_guard_ = false;
  for (Dim difference : {up, down}) {
    if (prove(difference)) facts_.push_back(capture_.dims().sub(difference, capture_.dims().constant(1)));
  }
  may_guard_ = true;
}

bool PathFacts::prove(Dim d) {
  std::map<int32_t, int> failed;
  return prove_by_facts(d, deepest_proof, failed);
}

bool PathFacts::knows(Dim d) {
  bool may_guard = std::exchange(may_guard_, false);
  bool known = prove(d);
  may_guard_ = may_guard;
  return known;
}

// Different orders of elimination reach the same goals; each goal is tried once per depth.
bool PathFacts::prove_by_facts(Dim d, int depth, std::map<int32_t, int>& failed) {
  auto known = failed.find(d.id);
  if (known != failed.end() && known->second >= depth) return false;
  if (failed.size() >= most_goals_of_proof) return false;
  if (eliminate_newest(d, depth, failed)) return true;
  failed[d.id] = depth;
  return false;
}

// Proves d >= 0 by eliminating its newest run-time symbol with a fact that bounds the symbol on the required side.
bool PathFacts::eliminate_newest(Dim d, int depth, std::map<int32_t, int>& failed) {
  DimTable& table = capture_.dims();
  auto implies = [&](Dim fact) { return forms_.difference(d, fact).value_or(-1) >= 0; };
  if (capture_.ranges().range_of(d).low >= 0 || std::any_of(facts_.begin(), facts_.end(), implies)) return true;
  std::vector<int> symbols = table.symbols(d);
  while (!symbols.empty() && !is_bound(symbols.back())) symbols.pop_back();
  if (symbols.empty()) {
    if (table.as_constant(d)) return *table.as_constant(d) >= 0;
    uint8_t signs = capture_.ranges().signs_of(d);
    if ((signs & sign_negative) == 0) return true;
    return may_guard_ && capture_.ranges().hint(d) >= 0 && decide(d, Comparison::ge, table.constant(0));
  }
  if (depth == 0) return false;
  for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); ++symbol) {
    if (!is_bound(*symbol)) continue;
    std::optional<int64_t> wanted = forms_.coefficient(d, *symbol);
    if (!wanted) continue;
    for (size_t i = facts_.size(); i-- > 0;) {
      std::optional<int64_t> slope = forms_.coefficient(facts_[i], *symbol);
      if (!slope || *slope == 0 || *wanted % *slope != 0) continue;
      int64_t times = *wanted / *slope;
      if (times <= 0) continue;
      if (prove_by_facts(table.sub(d, table.mul(facts_[i], times)), depth - 1, failed)) return true;
    }
    const Interval& range = capture_.ranges().range_of_symbol(*symbol);
    double least = *wanted > 0 ? range.low : range.high;
    if (*wanted == 0 || std::fabs(least) > static_cast<double>(ValueRanges::runtime_limit)) return false;
    return prove_by_facts(table.substitute(d, *symbol, static_cast<int64_t>(least)), depth - 1, failed);
  }
  return false;
}

std::optional<bool> PathFacts::known_relation(Dim left, Comparison comparison, Dim right) {
  if (capture_.ranges().is_far_apart(left, right)) return capture_.ranges().implied_by_ranges(left, comparison, right);
  DimTable& table = capture_.dims();
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

std::optional<bool> PathFacts::implied_by_facts(Dim left, Comparison comparison, Dim right) {
  bool may_guard = std::exchange(may_guard_, false);
  std::optional<bool> implied = known_relation(left, comparison, right);
  may_guard_ = may_guard;
  return implied;
}

Assumptions::Assumptions(Capture& capture, Reason reason)
    : facts_(capture.facts()),
      outer_(facts_.assumptions_),
      reason_(reason),
      both_(capture.speculation().given.learned.contains(reason)) {
  facts_.assumptions_ = this;
}

Assumptions::~Assumptions() { facts_.assumptions_ = outer_; }

bool PathFacts::is_within_limit(int symbol) {
  Dim own = capture_.dims().symbol(symbol), limit = capture_.dims().constant(ValueRanges::runtime_limit);
  return prove(capture_.dims().sub(limit, own)) && prove(capture_.dims().add(own, limit));
}

bool PathFacts::is_known_equal(Dim left, Dim right) {
  Dim difference = capture_.dims().sub(left, right);
  if (auto value = capture_.dims().as_constant(difference)) return *value == 0;
  return knows(difference) && knows(capture_.dims().sub(right, left));
}

ValueId PathFacts::compare_at_run_time(const Relation& relation, ValueKind kind) {
  ValueId left = capture_.build().dim(relation.left), right = capture_.build().dim(relation.right);
  return capture_.build().pointwise(row_of(relation.comparison).op, {left, right}, {DType::bool_}, kind);
}

}  // namespace accel
