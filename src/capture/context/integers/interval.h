#pragma once
// Intervals that contain all values of an integer expression. Bounds are doubles, rounded outward where an exact bound is not
// representable.

#include <cstdint>

namespace accel {

struct Interval {
  double low = 0, high = 0;
};

Interval interval_of(int64_t value);
Interval sum_of(Interval left, Interval right);
Interval product_of(Interval left, Interval right);
// Intervals of Python's floor division and modulo.
Interval quotient_of(Interval dividend, Interval divisor);
Interval remainder_of(Interval divisor);

}  // namespace accel
