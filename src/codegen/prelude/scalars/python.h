// Whether CPython raises for a result of the C library: NaN or infinite where the operands were neither. By bits: g++ compares
// with instructions for which a NaN is an event.
ACCEL_INLINE u64 size_bits(f64 a) { return __builtin_bit_cast(u64, a) << 1; }
ACCEL_INLINE bool8 math_fails(f64 result, f64 a, f64 b) {
  constexpr u64 infinite = 0xffe0000000000000u;
  if (__builtin_expect(size_bits(result) < infinite, 1)) return false;
  if (size_bits(result) > infinite) return (size_bits(a) <= infinite) & (size_bits(b) <= infinite);
  return (size_bits(a) < infinite) & (size_bits(b) < infinite);
}

// CPython decides the special cases of atan2 itself.
static inline f64 math_atan2(f64 y, f64 x) {
  constexpr f64 pi = 3.141592653589793238462643383279502884197;
  const bool positive = copysign(1.0, x) == 1.0;
  if (isnan(x) | isnan(y)) return x + y;
  if (isinf(y)) return copysign((isinf(x) ? (positive ? 0.25 : 0.75) : 0.5) * pi, y);
  if (isinf(x) | (y == 0)) return positive ? copysign(0.0, y) : copysign(pi, y);
  return libm_atan2(y, x);
}

// math.hypot as CPython adds up: squares of the numbers, scaled by a power of 2, without errors of rounding, and a correction
// of the root (Borges, "An Improved Algorithm for hypot(a,b)", arXiv:1904.09481). NaN where the largest number is subnormal.
template <int n>
static inline f64 math_norm(const f64 (&numbers)[n]) {
  f64 largest = 0;
  bool8 is_nan = false;
  for (f64 x : numbers) {
    is_nan |= isnan(x);
    largest = fabs(x) > largest ? fabs(x) : largest;
  }
  if (isinf(largest)) return largest;
  if (is_nan) return __builtin_nan("");
  if (largest == 0) return largest;
  const u64 exponent = __builtin_bit_cast(u64, largest) >> 52;
  if (exponent == 0) return __builtin_nan("");
  // The largest number becomes at least 1/2 and less than 1.
  const u64 bits = exponent < 2045 ? (2045 - exponent) << 52 : u64{1} << (2096 - exponent);
  const f64 scale = __builtin_bit_cast(f64, bits);
  f64 sum = 1, lost_of_squares = 0, lost_of_sums = 0;
  const auto add = [&](f64 a, f64 b) {
    const f64 product = a * b, before = sum;
    sum = before + product;
    lost_of_squares += __builtin_fma(a, b, -product);
    lost_of_sums += (before - sum) + product;
  };
  for (f64 x : numbers) add(fabs(x) * scale, fabs(x) * scale);
  const f64 root = __builtin_sqrt(sum - 1 + (lost_of_squares + lost_of_sums));
  add(-root, root);
  const f64 rest = sum - 1 + (lost_of_squares + lost_of_sums);
  return (root + rest / (2 * root)) / scale;
}

// math.gamma and math.lgamma of positive numbers: Lanczos' approximation as CPython evaluates it (Modules/mathmodule.c; g and
// the coefficients are those of boost::math::lanczos::lanczos13m53). NaN where CPython has to be asked.
constexpr f64 lanczos_g = 6.024680040776729583740234375;
static inline f64 lanczos_sum(f64 x) {
  constexpr f64 above[13] = {
      23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
      35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
      6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786772,
      248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
      2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
      8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
      2.5066282746310002701649081771338373386264310793408};
  constexpr f64 below[13] = {0,       39916800, 120543840, 150917976, 105258076, 45995730, 13339535,
                             2637558, 357423,   32670,     1925,      66,        1};
  f64 upper = 0, lower = 0;
  for (int k = 0; k < 13; ++k) {
    const int i = x < 5 ? 12 - k : k;
    upper = (x < 5 ? upper * x : upper / x) + above[i];
    lower = (x < 5 ? lower * x : lower / x) + below[i];
  }
  return upper / lower;
}
static inline f64 math_gamma(f64 x) {
  if (!(x >= 1e-20 && x <= 171)) return __builtin_nan("");
  if (x <= 23 && x == (f64)(i64)x) {
    f64 product = 1;  // exact
    for (f64 k = 2; k < x; ++k) product *= k;
    return product;
  }
  constexpr f64 shift = lanczos_g - 0.5;
  const f64 y = x + shift;
  const f64 lost = x > shift ? (y - x) - shift : (y - shift) - x;
  f64 out = lanczos_sum(x) / libm_exp(y);
  out += lost * lanczos_g / y * out;
  if (x < 140) return out * libm_pow(y, x - 0.5);
  const f64 root = libm_pow(y, x / 2 - 0.25);
  return out * root * root;
}
static inline f64 math_lgamma(f64 x) {
  if (!(x > 0 && x <= 1e300)) return __builtin_nan("");
  if (x == 1 || x == 2) return 0.0;
  if (x < 1e-20) return -libm_log(x);
  const f64 out = libm_log(lanczos_sum(x)) - lanczos_g;
  return out + (x - 0.5) * (libm_log(x + lanczos_g - 0.5) - 1);
}

// x = mantissa * 2**exponent, the mantissa at least 1/2 and less than 1.
static inline i64 math_exponent(f64 x) {
  int exponent = 0;
  if (x != 0 && isfinite(x)) __builtin_frexp(x, &exponent);
  return exponent;
}
static inline f64 math_mantissa(f64 x) {
  int exponent = 0;
  return x != 0 && isfinite(x) ? __builtin_frexp(x, &exponent) : x;
}
// x * 2**exponent
static inline f64 math_ldexp(f64 x, i64 exponent) {
  return __builtin_ldexp(x, (int)(exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent));
}
static inline f64 math_ulp(f64 x) {
  x = fabs(x);
  if (!isfinite(x)) return x;
  const f64 above = libm_nextafter(x, __builtin_inf());
  return isinf(above) ? x - libm_nextafter(x, 0) : above - x;
}

static inline i64 math_isqrt(i64 n) {
  if (n < 0) return 0;
  i64 root = (i64)__builtin_sqrt((f64)n);
  root = index_min(root, 3037000499);
  while (root * root > n) --root;
  while (root < 3037000499 && (root + 1) * (root + 1) <= n) ++root;
  return root;
}

template <class T>
static inline T int_power(T base, T exponent) {
  u64 result = 1, factor = (u64)base;
  for (u64 rest = (u64)exponent; rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return (T)result;
}
static inline bool8 int_power_overflows(i64 base, i64 exponent) {
  i64 result = 1, factor = base;
  bool8 lost = false;
  for (i64 rest = exponent; rest > 0; rest >>= 1) {
    if (rest & 1) lost |= __builtin_mul_overflow(result, factor, &result);
    if (rest > 1 && (factor > 1 || factor < -1))
      lost |= __builtin_mul_overflow(factor, factor, &factor);
    else if (rest > 1)
      factor *= factor;
    if (lost) return true;
  }
  return false;
}

// Whether an int compares to a float as the exact numbers do: below, at or above it; neither for NaN.
struct ExactOrder {
  bool8 below, equal, above;
};
ACCEL_INLINE ExactOrder exact_order(i64 a, f64 b) {
  if (b != b) return {false, false, false};
  if (b >= 0x1p63) return {true, false, false};
  if (b < -0x1p63) return {false, false, true};
  const i64 whole = (i64)b;
  const f64 rest = b - (f64)whole;
  const bool8 same = a == whole;
  return {a < whole || (same && rest > 0), same && rest == 0, a > whole || (same && rest < 0)};
}
#define ACCEL_EXACT_COMPARE(name, with_float, with_int) \
  ACCEL_INLINE bool8 name(i64 a, f64 b) {               \
    const ExactOrder order = exact_order(a, b);         \
    return with_float;                                  \
  }                                                     \
  ACCEL_INLINE bool8 name(f64 b, i64 a) {               \
    const ExactOrder order = exact_order(a, b);         \
    return with_int;                                    \
  }
ACCEL_EXACT_COMPARE(equal, order.equal, order.equal)
ACCEL_EXACT_COMPARE(not_equal, !order.equal, !order.equal)
ACCEL_EXACT_COMPARE(less, order.below, order.above)
ACCEL_EXACT_COMPARE(less_equal, order.below | order.equal, order.above | order.equal)
ACCEL_EXACT_COMPARE(greater, order.above, order.below)
ACCEL_EXACT_COMPARE(greater_equal, order.above | order.equal, order.below | order.equal)
