#include "capture/context/integers/interval.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace accel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();

// A result rounded to the nearest double, and the rounding error (exact result minus rounded one). The error is NaN or infinite
// if the product overflows or has an infinite factor.
struct Rounded {
  double value = 0, error = 0;

  double down() const { return std::min(error < 0 ? std::nextafter(value, -infinity) : value, most); }
  double up() const { return std::max(error > 0 ? std::nextafter(value, infinity) : value, -most); }
};

// Exact error of an addition: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.
Rounded add(double left, double right) {
  const double sum = left + right, part = sum - left;
  return {sum, (left - (sum - part)) + (right - part)};
}

Rounded multiply(double left, double right) {
  const double product = left * right;
  return {product, std::fma(left, right, -product)};
}

// Only the sign of the error is exact. Requires divisor > 0.
Rounded divide(double dividend, double divisor) {
  const double quotient = dividend / divisor;
  return {quotient, std::fma(-quotient, divisor, dividend)};
}

// The hull of the values that are not NaN. NaN arises from 0 times an infinite bound; other corners cover such products.
Interval hull_of(std::initializer_list<Rounded> values) {
  Interval out{infinity, -infinity};
  for (const Rounded& value : values) {
    out.low = std::min(out.low, value.down());
    out.high = std::max(out.high, value.up());
  }
  return out;
}

}  // namespace

Interval interval_of(int64_t value) {
  constexpr int64_t half = int64_t{1} << 32;
  return hull_of({add(static_cast<double>(value / half) * static_cast<double>(half), static_cast<double>(value % half))});
}

Interval sum_of(Interval left, Interval right) { return {add(left.low, right.low).down(), add(left.high, right.high).up()}; }

Interval product_of(Interval left, Interval right) {
  return hull_of({multiply(left.low, right.low), multiply(left.low, right.high), multiply(left.high, right.low),
                  multiply(left.high, right.high)});
}

Interval quotient_of(Interval dividend, Interval divisor) {
  if (divisor.low < 1) {
    const double widest = std::max(std::fabs(dividend.low), std::fabs(dividend.high));
    return {-widest, widest};
  }
  const Interval low = hull_of({divide(dividend.low, divisor.low), divide(dividend.low, divisor.high)});
  const Interval high = hull_of({divide(dividend.high, divisor.low), divide(dividend.high, divisor.high)});
  return {std::floor(low.low), std::floor(high.high)};
}

Interval remainder_of(Interval divisor) {
  if (divisor.low > 0) return {0, add(divisor.high, -1).up()};
  const double widest = std::max(std::fabs(divisor.low), std::fabs(divisor.high));
  return {-widest, widest};
}

}  // namespace accel
