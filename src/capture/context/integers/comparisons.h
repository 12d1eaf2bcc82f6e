#pragma once
// Properties of each comparison of integers, one table row per comparison.

#include <cstdint>

#include "guard/guard_set.h"
#include "ir/op.h"

namespace accel {

// Signs that a difference may have, as a bit set.
enum SignBits : uint8_t { sign_negative = 1, sign_zero = 2, sign_positive = 4 };

struct ComparisonRow {
  uint8_t signs;  // signs of left - right for which it holds
  Comparison inverse;
  Op op;
  const char* text;
};

inline const ComparisonRow& row_of(Comparison comparison) {
  static constexpr ComparisonRow table[] = {
      {sign_zero, Comparison::ne, Op::equal, "=="},      {sign_negative | sign_positive, Comparison::eq, Op::not_equal, "!="},
      {sign_negative, Comparison::ge, Op::less, "<"},    {sign_negative | sign_zero, Comparison::gt, Op::less_equal, "<="},
      {sign_positive, Comparison::le, Op::greater, ">"}, {sign_positive | sign_zero, Comparison::lt, Op::greater_equal, ">="},
  };
  return table[static_cast<size_t>(comparison)];
}

inline uint8_t sign_of(int64_t value) { return value < 0 ? sign_negative : value == 0 ? sign_zero : sign_positive; }

}  // namespace accel
