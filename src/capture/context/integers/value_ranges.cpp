#include "capture/context/integers/value_ranges.h"

#include <algorithm>
#include <cmath>

#include "capture/context/context.h"

namespace accel {

int64_t ValueRanges::hint(Dim d) const { return capture_.dims().evaluate(d, capture_.graph().hints); }

Interval ValueRanges::range_of(Dim d) const {
  const DimTable& table = capture_.dims();
  if (auto value = table.as_constant(d)) return interval_of(*value);
  if (auto symbol = table.as_symbol(d)) {
    Interval known = symbol_ranges_[static_cast<size_t>(*symbol)];
    auto signs = signs_.find(d.id);
    if (signs != signs_.end() && signs->second == sign_positive) known.low = std::max(known.low, 1.0);
    return known;
  }
  std::vector<Dim> parts = table.operands(d);
  Interval out = range_of(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    Interval next = range_of(parts[i]);
    switch (table.kind(d)) {
      case DimKind::add:
        out = sum_of(out, next);
        break;
      case DimKind::mul:
        out = product_of(out, next);
        break;
      case DimKind::min:
        out = {std::min(out.low, next.low), std::min(out.high, next.high)};
        break;
      case DimKind::max:
        out = {std::max(out.low, next.low), std::max(out.high, next.high)};
        break;
      case DimKind::floordiv:
        out = quotient_of(out, next);
        break;
      case DimKind::mod:
        out = remainder_of(next);
        break;
      default:
        break;
    }
  }
  return out;
}

// Restricts every symbol of `d` to [-limit, limit] by guards. False if a value of the captured call lies outside.
bool ValueRanges::limit_symbols(Dim d, double limit) {
  std::vector<int> symbols = capture_.dims().symbols(d);
  std::erase_if(symbols, [&](int symbol) { return capture_.facts().is_bound(symbol); });
  for (int symbol : symbols) {
    if (std::fabs(static_cast<double>(capture_.graph().hints[static_cast<size_t>(symbol)])) > limit) return false;
  }
  for (int symbol : symbols) {
    Interval& range = symbol_ranges_[static_cast<size_t>(symbol)];
    Dim own = capture_.dims().symbol(symbol), bound = capture_.dims().constant(static_cast<int64_t>(limit));
    if (range.high > limit) guard_relation(own, Comparison::le, bound);
    if (range.low < -limit) guard_relation(own, Comparison::ge, capture_.dims().sub(capture_.dims().constant(0), bound));
    range = {std::max(range.low, -limit), std::min(range.high, limit)};
  }
  return true;
}

bool ValueRanges::fits_with_limits(Dim d) {
  constexpr double widest = 4611686018427387904.0;  // 2**62
  auto inside = [&](const Interval& range) { return range.low >= -widest && range.high <= widest; };
  if (inside(range_of(d))) return true;
  for (int bits : {46, 31, 30, 20, 15}) {
    std::vector<Interval> before = symbol_ranges_;
    for (int symbol : capture_.dims().symbols(d)) {
      if (capture_.facts().is_bound(symbol)) continue;
      Interval& range = symbol_ranges_[static_cast<size_t>(symbol)];
      double limit = std::ldexp(1.0, bits);
      range = {std::max(range.low, -limit), std::min(range.high, limit)};
    }
    bool enough = inside(range_of(d));
    symbol_ranges_ = std::move(before);
    if (enough) return limit_symbols(d, std::ldexp(1.0, bits));
  }
  return false;
}

// Symbols bound at run time temporarily get the range that facts of this path prove.
bool ValueRanges::fits(Dim d) {
  constexpr int64_t longest = 500;  // a number that a loop doubles has an expression that doubles as well
  if (capture_.dims().length(d) > longest) return false;
  if (fits_with_limits(d)) return true;
  std::vector<std::pair<size_t, Interval>> before;
  for (int symbol : capture_.dims().symbols(d)) {
    if (!capture_.facts().is_bound(symbol) || !capture_.facts().is_within_limit(symbol)) continue;
    auto index = static_cast<size_t>(symbol);
    before.emplace_back(index, symbol_ranges_[index]);
    double limit = static_cast<double>(runtime_limit);
    symbol_ranges_[index] = {std::max(before.back().second.low, -limit), std::min(before.back().second.high, limit)};
  }
  bool enough = !before.empty() && fits_with_limits(d);
  for (const auto& [index, range] : before) symbol_ranges_[index] = range;
  return enough;
}

void ValueRanges::guard_relation(Dim left, Comparison comparison, Dim right) {
  Guard guard;
  guard.kind = GuardKind::relation;
  guard.relation = {left, comparison, right};
  guard.text = relation_text({left, right, comparison});
  capture_.guards().guards.push_back(std::move(guard));
}

int64_t ValueRanges::decided_by_guards() const {
  return std::count_if(capture_.guards().guards.begin(), capture_.guards().guards.end(),
                       [](const Guard& guard) { return guard.kind == GuardKind::relation || guard.kind == GuardKind::equals; });
}

std::string ValueRanges::relation_text(const Relation& relation) const {
  auto names = [&](Dim d) {
    if (auto symbol = capture_.dims().as_symbol(d)) return capture_.graph().symbols[static_cast<size_t>(*symbol)];
    return capture_.dims().text(d);
  };
  return names(relation.left) + " " + row_of(relation.comparison).text + " " + names(relation.right);
}

uint8_t ValueRanges::signs_of(Dim difference) const {
  auto known = signs_.find(difference.id);
  uint8_t signs = known == signs_.end() ? sign_negative | sign_zero | sign_positive : known->second;
  Interval range = range_of(difference);
  if (range.low > 0) return sign_positive;
  if (range.low >= 0) signs &= sign_zero | sign_positive;
  if (range.high < 0) return sign_negative;
  if (range.high <= 0) signs &= sign_negative | sign_zero;
  return signs;
}

void ValueRanges::note_signs(Dim left, Dim right, uint8_t signs) {
  const bool negative = (signs & sign_negative) != 0, positive = (signs & sign_positive) != 0;
  signs_[capture_.dims().sub(left, right).id] = signs;
  signs_[capture_.dims().sub(right, left).id] =
      static_cast<uint8_t>((signs & sign_zero) | (negative ? sign_positive : 0) | (positive ? sign_negative : 0));
}

bool ValueRanges::is_far_apart(Dim left, Dim right) const {
  return is_far(capture_.dims(), left) || is_far(capture_.dims(), right);
}

std::optional<bool> ValueRanges::implied_by_ranges(Dim left, Comparison comparison, Dim right) const {
  auto l = capture_.dims().as_constant(left), r = capture_.dims().as_constant(right);
  if (l && r) return compare(*l, comparison, *r);
  Interval one = range_of(left), other = range_of(right);
  if (one.high < other.low) return (row_of(comparison).signs & sign_negative) != 0;
  if (one.low > other.high) return (row_of(comparison).signs & sign_positive) != 0;
  return std::nullopt;
}

void ValueRanges::substitute_if_possible(Dim left, Dim right) {
  if (!substitute(left, right) && !substitute(right, left)) return;
  throw Restart{};
}

Substitution ValueRanges::substitution_of(int symbol, Dim by) {
  auto named = [&](int number) { return std::pair(number, capture_.graph().symbols[static_cast<size_t>(number)]); };
  Substitution out{capture_.dims().text(by), {named(symbol)}};
  for (int other : capture_.dims().symbols(by)) out.names.push_back(named(other));
  return out;
}

bool ValueRanges::substitute(Dim symbol, Dim by) {
  auto index = capture_.dims().as_symbol(symbol);
  if (!index || capture_.speculation().numbers.substitutions.count(*index) != 0) return false;
  for (int other : capture_.dims().symbols(by)) {
    if (other >= *index) return false;
  }
  capture_.speculation().numbers.substitutions[*index] = substitution_of(*index, by);
  return true;
}

int ValueRanges::add_symbol(const std::string& name, int64_t hint, Interval range) {
  int symbol = capture_.graph().add_symbol(name, hint);
  symbol_ranges_.push_back(range);
  capture_.guards().symbol_count = symbol + 1;
  return symbol;
}

Dim ValueRanges::symbol_dim(int symbol) {
  Dim own = capture_.dims().symbol(symbol);
  auto known = capture_.speculation().numbers.substitutions.find(symbol);
  if (known == capture_.speculation().numbers.substitutions.end()) return own;
  for (const auto& [number, name] : known->second.names) {
    if (capture_.graph().symbols[static_cast<size_t>(number)] == name) continue;
    capture_.speculation().numbers.substitutions.erase(known);
    return own;
  }
  auto other = capture_.dims().parse(known->second.text);
  if (!other) return own;
  guard_relation(own, Comparison::eq, *other);
  return *other;
}

}  // namespace accel
