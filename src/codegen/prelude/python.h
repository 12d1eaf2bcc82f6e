// Python's numbers. The labels keep the compiler from knowing the functions: it would fold or replace calls with other bits
// than the C library's, which are CPython's.
#define ACCEL_LIBM1(name) extern "C" f64 libm_##name(f64) __asm__(#name) __attribute__((const));
#define ACCEL_LIBM2(name) extern "C" f64 libm_##name(f64, f64) __asm__(#name) __attribute__((const));
ACCEL_LIBM1(acos)
ACCEL_LIBM1(acosh)
ACCEL_LIBM1(asin)
ACCEL_LIBM1(asinh)
ACCEL_LIBM1(atan)
ACCEL_LIBM1(atanh)
ACCEL_LIBM1(cbrt)
ACCEL_LIBM1(cos)
ACCEL_LIBM1(cosh)
ACCEL_LIBM1(erf)
ACCEL_LIBM1(erfc)
ACCEL_LIBM1(exp)
ACCEL_LIBM1(exp2)
ACCEL_LIBM1(expm1)
ACCEL_LIBM1(log)
ACCEL_LIBM1(log10)
ACCEL_LIBM1(log1p)
ACCEL_LIBM1(log2)
ACCEL_LIBM1(sin)
ACCEL_LIBM1(sinh)
ACCEL_LIBM1(tan)
ACCEL_LIBM1(tanh)
ACCEL_LIBM2(atan2)
ACCEL_LIBM2(hypot)
ACCEL_LIBM2(pow)

extern "C" f32 libm_powf(f32, f32) __asm__("powf") __attribute__((const));
extern "C" f32 libm_hypotf(f32, f32) __asm__("hypotf") __attribute__((const));
ACCEL_INLINE f64 scalar_hypot(f64 a, f64 b) { return libm_hypot(a, b); }
ACCEL_INLINE f32 scalar_hypot(f32 a, f32 b) { return libm_hypotf(a, b); }

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

// Python's quotient of complex numbers: the divisor is scaled by its larger part.
static inline complex_of<f64> complex_quotient(complex_of<f64> a, complex_of<f64> b) {
  if (fabs(b.re) >= fabs(b.im)) {
    const f64 ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + rounded(a.im * ratio)) / scale, (a.im - rounded(a.re * ratio)) / scale};
  }
  if (fabs(b.im) >= fabs(b.re)) {
    const f64 ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(rounded(a.re * ratio) + a.im) / scale, (rounded(a.im * ratio) - a.re) / scale};
  }
  return {__builtin_nan(""), __builtin_nan("")};
}
