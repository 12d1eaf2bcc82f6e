#pragma once

#include <map>
#include <optional>

#include "ir/integers/dim.h"

namespace accel {

inline bool is_division(const DimTable& dims, Dim d) {
  return dims.kind(d) == DimKind::floordiv || dims.kind(d) == DimKind::mod;
}

// How far `offset` moves from one value of a variable to the next.
Dim step_over(DimTable& dims, Dim offset, Dim variable);

// Ranges of the variables of loops around a statement, which decide quotients and remainders in an index: those need no
// division at run time.
class IndexRanges {
 public:
  explicit IndexRanges(DimTable& dims) : dims_(dims) {}

  // The variable is in [0, extent) until it is left. The extent is positive there.
  void enter(int variable, Dim extent) { extents_.insert_or_assign(variable, extent); }
  void leave(int variable) { extents_.erase(variable); }

  // d with fewer // and %.
  Dim simplify(Dim d);

 private:
  // a = whole * by + rest, with rest in [0, by).
  struct Division {
    Dim whole, rest;
  };
  std::optional<Division> divide(Dim a, Dim by);
  std::optional<Dim> decided(Dim a, Dim b, bool quotient);
  bool grows(Dim d);
  bool is_positive(int symbol) const;
  std::optional<Dim> largest(Dim d);

  DimTable& dims_;
  std::map<int, Dim> extents_;
};

}  // namespace accel
