// Operations on complex numbers for which kernels for CPUs call NumPy's loops. Special values are those of the C standard's
// Annex G. complex64 is computed in complex128.
static inline c128 from_polar(f64 size, f64 angle) {
  f64 sine, cosine;
  ::sincos(angle, &sine, &cosine);
  return {size * cosine, size * sine};
}
// e^x times a direction, where e^x alone may overflow.
static inline c128 exponential(f64 x, c128 direction) {
  for (int k = 0; k < 2 && x > 709; ++k) {
    constexpr f64 factor = 0x1.d422d2be5dc9bp+1022;  // e^709
    x -= 709;
    direction = {direction.re * factor, direction.im * factor};
  }
  const f64 size = ::exp(x);
  return {direction.re * size, direction.im * size};
}
static inline c128 exp(c128 z) {
  if (z.im == 0) return {::exp(z.re), z.im};
  if (!isfinite(z.im)) {
    if (!isinf(z.re)) return {z.im - z.im, z.im - z.im};
    if (z.re < 0) return {0, copysign(0.0, z.im)};
    return {z.re, z.im - z.im};
  }
  const c128 direction = from_polar(1, z.im);
  if (isinf(z.re)) {
    const f64 size = z.re < 0 ? 0 : z.re;
    return {copysign(size, direction.re), copysign(size, direction.im)};
  }
  return exponential(z.re, direction);
}

// ln|z|. Near 1 the logarithm is that of 1 + (|z|^2 - 1), with the errors of the squares' roundings (Dekker 1971).
static inline f64 log_of_size(c128 z) {
  const f64 x = fabs(z.re), y = fabs(z.im), larger = x > y ? x : y, smaller = x > y ? y : x;
  const f64 square = larger * larger, rest = smaller * smaller;
  if (square >= 0.5 && square + rest <= 2) {
    const f64 above = square - 1, sum = above + rest, added = sum - above, lost = (above - (sum - added)) + (rest - added);
    const f64 rounding = contracted(larger, larger, -square) + contracted(smaller, smaller, -rest);
    return ::log1p(sum + (lost + rounding)) / 2;
  }
  if (larger > 0x1p1020 && isfinite(larger)) return ::log(::hypot(x / 16, y / 16)) + 4 * 0x1.62e42fefa39efp-1;
  if (larger < 0x1p-960 && larger > 0) return ::log(::hypot(x * 0x1p100, y * 0x1p100)) - 100 * 0x1.62e42fefa39efp-1;
  return ::log(::hypot(x, y));
}
static inline c128 log(c128 z) { return {log_of_size(z), ::atan2(z.im, z.re)}; }

// The root with a real part that is not negative, by the stable one of both formulas for its parts (Kahan, "Branch Cuts for
// Complex Elementary Functions", 1987).
static inline c128 sqrt(c128 z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  if (isinf(z.im)) return {fabs(z.im), z.im};
  if (isnan(z.re)) return {z.re, z.re};
  if (isinf(z.re)) {
    const f64 other = z.im - z.im;  // 0 or NaN
    return z.re < 0 ? c128{fabs(other), copysign(z.re, z.im)} : c128{z.re, copysign(other, z.im)};
  }
  const f64 x = fabs(z.re), y = fabs(z.im), largest = x > y ? x : y;
  const f64 scale = largest > 0x1p1020 ? 0x1p-4 : largest < 0x1p-960 ? 0x1p100 : 1;
  const f64 unscale = largest > 0x1p1020 ? 0x1p2 : largest < 0x1p-960 ? 0x1p-50 : 1;
  const f64 root = ::sqrt((x * scale + ::hypot(x * scale, y * scale)) / 2), other = y * scale / (2 * root);
  if (z.re < 0) return {other * unscale, copysign(root * unscale, z.im)};
  return {root * unscale, copysign(other * unscale, z.im)};
}

static inline c128 sinh(c128 z) {
  if (z.im == 0) return {::sinh(z.re), z.im};
  if (!isfinite(z.im)) return {z.re == 0 || isinf(z.re) ? z.re : z.im - z.im, z.im - z.im};
  const c128 direction = from_polar(1, z.im);
  if (fabs(z.re) <= 709) return {::sinh(z.re) * direction.re, ::cosh(z.re) * direction.im};
  return exponential(fabs(z.re), {copysign(0.5, z.re) * direction.re, direction.im / 2});
}
static inline c128 cosh(c128 z) {
  if (z.im == 0) return {::cosh(z.re), copysign(1.0, z.re) * z.im};
  if (!isfinite(z.im)) return {isinf(z.re) ? fabs(z.re) : z.im - z.im, z.re == 0 ? z.re : z.im - z.im};
  const c128 direction = from_polar(1, z.im);
  if (fabs(z.re) <= 709) return {::cosh(z.re) * direction.re, ::sinh(z.re) * direction.im};
  return exponential(fabs(z.re), {direction.re / 2, copysign(0.5, z.re) * direction.im});
}
// Kahan 1987.
static inline c128 tanh(c128 z) {
  if (z.im == 0) return {::tanh(z.re), z.im};
  if (isinf(z.re)) {
    const f64 side = isfinite(z.im) ? ::sin(2 * z.im) : z.im;
    return {copysign(1.0, z.re), copysign(0.0, side)};
  }
  if (!isfinite(z.im) || isnan(z.re)) return {z.re == 0 ? z.re : z.im - z.im + z.re, z.im - z.im + z.re};
  const f64 tangent = ::tan(z.im), spread = 1 + tangent * tangent;
  if (fabs(z.re) >= 22) {
    const f64 small = ::exp(-fabs(z.re));
    return {copysign(1.0, z.re), 4 * (tangent / spread) * small * small};
  }
  const f64 sine = ::sinh(z.re), cosine = ::sqrt(1 + sine * sine), divisor = 1 + spread * sine * sine;
  return {spread * cosine * sine / divisor, tangent / divisor};
}

// Inverse functions: Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception
// handling", ACM Transactions on Mathematical Software 23 (1997). With the distances r and s of x + iy (in the first quadrant)
// from i and -i, and a = (r + s) / 2, arcsinh has the real part arccosh(a) and the imaginary part arcsin(y / a).
struct InverseParts {
  f64 real;         // arccosh(a)
  f64 sine;         // y / a, if not near 1
  f64 leg, height;  // else: sqrt(a^2 - y^2), and y, both perhaps scaled
  bool near_one;
};
// (|a + bi| - b) / 2
static inline f64 half_excess(f64 a, f64 b, f64 size) { return b <= 0 ? (size - b) / 2 : a * a / (size + b) / 2; }
static inline InverseParts inverse_parts(f64 x, f64 y) {
  constexpr f64 epsilon = 0x1p-52;
  const f64 r = ::hypot(x, y + 1), s = ::hypot(x, y - 1), mean = (r + s) / 2, a = mean < 1 ? 1 : mean;
  InverseParts out = {0, y / a, 0, y, y / a > 0.6417};
  if (a >= 10) {
    out.real = ::log(a + ::sqrt(a * a - 1));
  } else if (y == 1 && x < epsilon * epsilon / 128) {
    out.real = ::sqrt(x);
  } else if (x >= epsilon * fabs(y - 1)) {
    const f64 above = half_excess(x, 1 + y, r) + half_excess(x, 1 - y, s);  // a - 1
    out.real = ::log1p(above + ::sqrt(above * (a + 1)));
  } else if (y < 1) {
    out.real = x / ::sqrt((1 - y) * (1 + y));
  } else {
    out.real = ::log1p((y - 1) + ::sqrt((y - 1) * (y + 1)));
  }
  if (y < 0x1p-509) {
    out.near_one = true, out.leg = a * (2 / epsilon), out.height = y * (2 / epsilon);
  } else if (out.near_one && y == 1 && x < epsilon / 128) {
    out.leg = ::sqrt(x) * ::sqrt((a + y) / 2);
  } else if (out.near_one && x >= epsilon * fabs(y - 1)) {
    out.leg = ::sqrt((half_excess(x, y + 1, r) + half_excess(x, y - 1, s)) * (a + y));
  } else if (out.near_one && y > 1) {
    constexpr f64 scale = 4 / epsilon / epsilon;
    out.leg = x * scale * y / ::sqrt((y + 1) * (y - 1)), out.height = y * scale;
  } else if (out.near_one) {
    out.leg = ::sqrt((1 - y) * (1 + y));
  }
  return out;
}
constexpr f64 large_inverse = 0x1p52, small_inverse = 0x1p-28, ln2 = 0x1.62e42fefa39efp-1, half_pi = 0x1.921fb54442d18p+0;

static inline c128 arcsinh(c128 z) {
  const f64 x = fabs(z.re), y = fabs(z.im);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {z.re, z.im};
    if (isinf(y)) return {copysign(y, z.re), z.re};
    return z.im == 0 ? c128{z.re, z.im} : c128{x + y, x + y};
  }
  if (x > large_inverse || y > large_inverse) return {copysign(log_of_size(z) + ln2, z.re), copysign(::atan2(y, x), z.im)};
  if (x < small_inverse && y < small_inverse) return z;
  const InverseParts parts = inverse_parts(x, y);
  const f64 angle = parts.near_one ? ::atan2(parts.height, parts.leg) : ::asin(parts.sine);
  return {copysign(parts.real, z.re), copysign(angle, z.im)};
}
static inline c128 arccos(c128 z) {
  const f64 x = fabs(z.re), y = fabs(z.im);
  const bool left = signbit(z.re);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {y, -x};
    if (isinf(y)) return {x, -z.im};
    return z.re == 0 ? c128{half_pi, y} : c128{x + y, x + y};
  }
  if (x > large_inverse || y > large_inverse) return {::atan2(y, z.re), copysign(log_of_size(z) + ln2, -z.im)};
  if (x < small_inverse && y < small_inverse) return {half_pi - (z.re - 0x1.1a62633145c07p-54), -z.im};
  if (z.re == 1 && z.im == 0) return {0, -z.im};
  const InverseParts parts = inverse_parts(y, x);
  const f64 angle =
      parts.near_one ? ::atan2(parts.leg, left ? -parts.height : parts.height) : ::acos(left ? -parts.sine : parts.sine);
  return {angle, copysign(parts.real, -z.im)};
}
static inline c128 arccosh(c128 z) {
  const c128 w = arccos(z);
  if (isnan(w.re) && isnan(w.im)) return {w.im, w.re};
  if (isnan(w.re)) return {fabs(w.im), w.re};
  if (isnan(w.im)) return {w.im, z.re == 0 ? copysign(half_pi, z.im) : w.im};
  return {fabs(w.im), copysign(w.re, z.im)};
}
// The real part of 1 / (x + iy), of which one is large.
static inline f64 real_of_reciprocal(f64 x, f64 y) {
  if (isinf(x) || isinf(y)) return copysign(0.0, x);
  const f64 largest = fabs(x) > fabs(y) ? fabs(x) : fabs(y), scale = largest > 0x1p500 ? 0x1p-600 : 1;
  const f64 re = x * scale, im = y * scale;
  return re / (re * re + im * im) * scale;
}
// Kahan 1987.
static inline c128 arctanh(c128 z) {
  const f64 x = fabs(z.re), y = fabs(z.im);
  if (y == 0 && x <= 1) return {::atanh(z.re), z.im};
  if (x == 0) return {z.re, ::atan(z.im)};
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {copysign(0.0, z.re), y};
    if (isinf(y)) return {copysign(0.0, z.re), copysign(half_pi, z.im)};
    return {x + y, x + y};
  }
  if (x > large_inverse || y > large_inverse) return {real_of_reciprocal(z.re, z.im), copysign(half_pi, z.im)};
  if (x < small_inverse && y < small_inverse) return z;
  const f64 apart = x - 1, square = apart * apart + (y < 0x1p-511 ? 0 : y * y);
  const f64 real = x == 1 && y < 0x1p-52 ? (ln2 - ::log(y)) / 2 : ::log1p(4 * x / square) / 4;
  const f64 side = (1 - x) * (1 + x);
  const f64 angle = x == 1 ? ::atan2(2.0, -y) / 2 : ::atan2(2 * y, y < 0x1p-52 ? side : side - y * y) / 2;
  return {copysign(real, z.re), copysign(angle, z.im)};
}

// f(z) = -i g(iz), by symmetry without changing signs of zeros.
static inline c128 exchanged(c128 z) { return {z.im, z.re}; }
static inline c128 sin(c128 z) {
  const c128 w = sinh(c128{-z.im, z.re});
  return {w.im, -w.re};
}
static inline c128 cos(c128 z) { return cosh(c128{-z.im, z.re}); }
static inline c128 tan(c128 z) {
  const c128 w = tanh(c128{-z.im, z.re});
  return {w.im, -w.re};
}
static inline c128 arcsin(c128 z) { return exchanged(arcsinh(exchanged(z))); }
static inline c128 arctan(c128 z) { return exchanged(arctanh(exchanged(z))); }

// NumPy's rules for 0 and for small integer exponents, then e^(b ln a).
ACCEL_COMPLEX complex_of<R> whole_power(complex_of<R> a, int exponent) {
  complex_of<R> out = {1, 0};
  for (int rest = exponent < 0 ? -exponent : exponent;;) {
    if (rest & 1) out = multiply(out, a);
    rest >>= 1;
    if (rest == 0) break;
    a = multiply(a, a);
  }
  return exponent < 0 ? divide(complex_of<R>{1, 0}, out) : out;
}
static inline c128 general_power(c128 a, c128 b) { return exp(multiply(b, log(a))); }
static inline c64 general_power(c64 a, c64 b) { return cast<c64>(general_power(cast<c128>(a), cast<c128>(b))); }
ACCEL_COMPLEX complex_of<R> power(complex_of<R> a, complex_of<R> b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0 && b.im == 0) return {0, 0};
    return {(R)__builtin_nan(""), (R)__builtin_nan("")};
  }
  const int whole = fabs(b.re) < 100 ? (int)b.re : 0;
  if (b.im == 0 && whole != 0 && b.re == (R)whole) {
    if (whole == 1) return a;
    if (whole == 2) return multiply(a, a);
    if (whole == 3) return multiply(a, multiply(a, a));
    return whole_power(a, whole);
  }
  return general_power(a, b);
}
ACCEL_COMPLEX complex_of<R> float_power(complex_of<R> a, complex_of<R> b) { return power(a, b); }

#define ACCEL_COMPLEX_FUNCTION(name) \
  static inline c64 name(c64 z) { return cast<c64>(name(cast<c128>(z))); }
ACCEL_COMPLEX_FUNCTION(exp)
ACCEL_COMPLEX_FUNCTION(log)
ACCEL_COMPLEX_FUNCTION(sqrt)
ACCEL_COMPLEX_FUNCTION(sinh)
ACCEL_COMPLEX_FUNCTION(cosh)
ACCEL_COMPLEX_FUNCTION(tanh)
ACCEL_COMPLEX_FUNCTION(arcsinh)
ACCEL_COMPLEX_FUNCTION(arccos)
ACCEL_COMPLEX_FUNCTION(arccosh)
ACCEL_COMPLEX_FUNCTION(arctanh)
ACCEL_COMPLEX_FUNCTION(sin)
ACCEL_COMPLEX_FUNCTION(cos)
ACCEL_COMPLEX_FUNCTION(tan)
ACCEL_COMPLEX_FUNCTION(arcsin)
ACCEL_COMPLEX_FUNCTION(arctan)

// By NumPy's formulas, in the precision of the parts.
ACCEL_COMPLEX complex_of<R> scaled(complex_of<R> a, R factor) { return {a.re * factor, a.im * factor}; }
ACCEL_COMPLEX complex_of<R> exp2(complex_of<R> a) { return exp(scaled(a, (R)0.693147180559945309417232121458176568)); }
ACCEL_COMPLEX complex_of<R> log2(complex_of<R> a) { return scaled(log(a), (R)1.442695040888963407359924681001892137); }
ACCEL_COMPLEX complex_of<R> log10(complex_of<R> a) { return scaled(log(a), (R)0.434294481903251827651128918916605082); }
ACCEL_COMPLEX complex_of<R> expm1(complex_of<R> a) {
  const R half = sin(a.im / 2);
  return {expm1(a.re) * cos(a.im) - 2 * half * half, exp(a.re) * sin(a.im)};
}
ACCEL_COMPLEX complex_of<R> log1p(complex_of<R> a) {
  const R real = a.re + 1;
  return {log(hypot(real, a.im)), arctan2(a.im, real)};
}
ACCEL_COMPLEX complex_of<R> rint(complex_of<R> a) { return {rint(a.re), rint(a.im)}; }
ACCEL_COMPLEX complex_of<R> reciprocal(complex_of<R> a) {
  if (fabs(a.im) <= fabs(a.re)) {
    const R ratio = a.im / a.re, divisor = a.re + a.im * ratio;
    return {1 / divisor, -ratio / divisor};
  }
  const R ratio = a.re / a.im, divisor = a.re * ratio + a.im;
  return {ratio / divisor, -1 / divisor};
}
ACCEL_COMPLEX complex_of<R> sign(complex_of<R> a) {
  const R size = hypot(a.re, a.im), nan = (R)__builtin_nan("");
  if (isnan(size)) return {nan, nan};
  if (size == 0) return {0, 0};
  if (!isinf(size)) return {a.re / size, a.im / size};
  if (isinf(a.re) && isinf(a.im)) return {nan, nan};
  return {isinf(a.re) ? copysign((R)1, a.re) : 0, isinf(a.im) ? copysign((R)1, a.im) : 0};
}
