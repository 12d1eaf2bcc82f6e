#pragma once
// Integers: their values in the captured call (hints), the ranges that guards ensure, and equalities that guards ensure, which
// the next attempt applies from its start.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/context/integers/comparisons.h"
#include "capture/context/integers/interval.h"
#include "capture/context/speculation_log.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class ValueRanges {
 public:
  // Bound on the absolute value of run-time integers that compiled code checks (PathFacts::assume_fits).
  static constexpr int64_t runtime_limit = int64_t{1} << 46;

  explicit ValueRanges(Capture& capture) : capture_(capture) {}

  // The value in the captured call.
  int64_t hint(Dim d) const;
  double low(Dim d) const { return range_of(d).low; }
  double high(Dim d) const { return range_of(d).high; }
  Interval range_of(Dim d) const;
  // Whether `d` fits int64 for all values of its symbols, and its expression is not too long. May add guards that bound
  // symbols.
  bool fits(Dim d);
  // Whether left - right may overflow int64 (is_far).
  bool is_far_apart(Dim left, Dim right) const;
  // The truth of the relation if the ranges of both sides imply it.
  std::optional<bool> implied_by_ranges(Dim left, Comparison comparison, Dim right) const;
  // The signs (SignBits) that a difference can have, given its range and the guards.
  uint8_t signs_of(Dim difference) const;
  // Records the possible signs of left - right that a guard ensures.
  void note_signs(Dim left, Dim right, uint8_t signs);
  void guard_relation(Dim left, Comparison comparison, Dim right);
  // The number of guards on sizes and numbers.
  int64_t decided_by_guards() const;
  std::string relation_text(const Relation& relation) const;

  int add_symbol(const std::string& name, int64_t hint, Interval range);
  // The symbol, or the Dim that a guard of an earlier attempt required it to equal.
  Dim symbol_dim(int symbol);
  const Interval& range_of_symbol(int symbol) const { return symbol_ranges_[static_cast<size_t>(symbol)]; }
  // Called with two Dims that a guard requires to be equal. If one is a symbol and the other only has symbols of lower numbers,
  // the next attempt replaces the symbol, and Restart is thrown; otherwise returns.
  void substitute_if_possible(Dim left, Dim right);
  // The record for the log that replaces `symbol` by the equal Dim `by`.
  Substitution substitution_of(int symbol, Dim by);

 private:
  bool substitute(Dim symbol, Dim by);
  bool limit_symbols(Dim d, double limit);
  bool fits_with_limits(Dim d);

  Capture& capture_;
  std::vector<Interval> symbol_ranges_;
  std::unordered_map<int32_t, uint8_t> signs_;  // possible signs of a Dim that guards ensure, by its id
};

}  // namespace accel
