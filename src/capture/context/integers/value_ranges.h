#pragma once
// Integers: the values that they have at the call that is captured, the ranges in which guards hold them, and the equalities
// that guards require, with which the next attempt starts.

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
  static constexpr int64_t runtime_limit = int64_t{1} << 46;  // of integers that are checked for their size

  explicit ValueRanges(Capture& capture) : capture_(capture) {}

  // Value at the call that is captured.
  int64_t hint(Dim d) const;
  double low(Dim d) const { return range_of(d).low; }
  double high(Dim d) const { return range_of(d).high; }
  Interval range_of(Dim d) const;
  // Whether `d` fits int64 for all values of its symbols, after guards on their size where these help, and is not too long an
  // expression.
  bool fits(Dim d);
  // Whether the difference of the numbers may leave int64 (is_far).
  bool is_far_apart(Dim left, Dim right) const;
  // The answer that the range of each side alone implies.
  std::optional<bool> implied_by_ranges(Dim left, Comparison comparison, Dim right) const;
  // Signs (SignBits) that the difference may have by its range and by guards.
  uint8_t signs_of(Dim difference) const;
  // A guard has decided the sign of left - right.
  void note_signs(Dim left, Dim right, uint8_t signs);
  void guard_relation(Dim left, Comparison comparison, Dim right);
  // How many guards there are on sizes and numbers.
  int64_t decided_by_guards() const;
  std::string relation_text(const Relation& relation) const;

  int add_symbol(const std::string& name, int64_t hint, Interval range);
  // The symbol, or what an earlier attempt found it to be equal to.
  Dim symbol_dim(int symbol);
  const Interval& range_of_symbol(int symbol) const { return symbol_ranges_[static_cast<size_t>(symbol)]; }
  // Two Dims that a guard requires to be equal: the next attempt starts with the symbol of the higher number replaced. Throws
  // Restart then; returns where neither side is such a symbol.
  void substitute_if_possible(Dim left, Dim right);
  // Of a symbol by an equal Dim, as the log holds it.
  Substitution substitution_of(int symbol, Dim by);

 private:
  bool substitute(Dim symbol, Dim by);
  bool limit_symbols(Dim d, double limit);
  bool fits_with_limits(Dim d);

  Capture& capture_;
  std::vector<Interval> symbol_ranges_;
  std::unordered_map<int32_t, uint8_t> signs_;  // what guards say about the sign of a Dim
};

}  // namespace accel
