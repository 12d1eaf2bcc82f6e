// Operations for which kernels for CPUs call NumPy's loops: on real floats and integers.

// Quotients of integers are float64.
#define ACCEL_INTEGER_QUOTIENT(T) \
  ACCEL_INLINE f64 divide(T a, T b) { return (f64)a / (f64)b; }
ACCEL_INTEGER_QUOTIENT(i8)
ACCEL_INTEGER_QUOTIENT(i16)
ACCEL_INTEGER_QUOTIENT(i32)
ACCEL_INTEGER_QUOTIENT(i64)
ACCEL_INTEGER_QUOTIENT(u8)
ACCEL_INTEGER_QUOTIENT(u16)
ACCEL_INTEGER_QUOTIENT(u32)
ACCEL_INTEGER_QUOTIENT(u64)

// Functions of CUDA's library, by NumPy's name.
#define ACCEL_FUNCTION(name, single, wide)             \
  ACCEL_INLINE f32 name(f32 a) { return ::single(a); } \
  ACCEL_INLINE f64 name(f64 a) { return ::wide(a); }
ACCEL_FUNCTION(cbrt, cbrtf, cbrt)
ACCEL_FUNCTION(exp, expf, exp)
ACCEL_FUNCTION(exp2, exp2f, exp2)
ACCEL_FUNCTION(expm1, expm1f, expm1)
ACCEL_FUNCTION(log, logf, log)
ACCEL_FUNCTION(log2, log2f, log2)
ACCEL_FUNCTION(log10, log10f, log10)
ACCEL_FUNCTION(log1p, log1pf, log1p)
ACCEL_FUNCTION(sin, sinf, sin)
ACCEL_FUNCTION(cos, cosf, cos)
ACCEL_FUNCTION(tan, tanf, tan)
ACCEL_FUNCTION(arcsin, asinf, asin)
ACCEL_FUNCTION(arccos, acosf, acos)
ACCEL_FUNCTION(arctan, atanf, atan)
ACCEL_FUNCTION(sinh, sinhf, sinh)
ACCEL_FUNCTION(cosh, coshf, cosh)
ACCEL_FUNCTION(tanh, tanhf, tanh)
ACCEL_FUNCTION(arcsinh, asinhf, asinh)
ACCEL_FUNCTION(arccosh, acoshf, acosh)
ACCEL_FUNCTION(arctanh, atanhf, atanh)
#define ACCEL_FUNCTION2(name, single, wide)                      \
  ACCEL_INLINE f32 name(f32 a, f32 b) { return ::single(a, b); } \
  ACCEL_INLINE f64 name(f64 a, f64 b) { return ::wide(a, b); }
ACCEL_FUNCTION2(arctan2, atan2f, atan2)
ACCEL_FUNCTION2(hypot, hypotf, hypot)
ACCEL_FUNCTION2(nextafter, nextafterf, nextafter)

template <class T>
ACCEL_INLINE T degrees(T a) {
  return a * (T)(180 / 3.141592653589793238462643383279502884);
}
template <class T>
ACCEL_INLINE T rad2deg(T a) {
  return degrees(a);
}
template <class T>
ACCEL_INLINE T radians(T a) {
  return a * (T)(3.141592653589793238462643383279502884 / 180);
}
template <class T>
ACCEL_INLINE T deg2rad(T a) {
  return radians(a);
}

// Of two equal operands, infinite ones among them, NumPy adds the logarithm of 2.
template <class T>
ACCEL_INLINE T logaddexp(T a, T b) {
  if (a == b) return a + (T)0.693147180559945309417232121458176568;
  const T apart = a - b;
  return apart > 0 ? a + log1p(exp(-apart)) : apart <= 0 ? b + log1p(exp(apart)) : apart;
}
template <class T>
ACCEL_INLINE T logaddexp2(T a, T b) {
  constexpr T log2e = (T)1.442695040888963407359924681001892137;
  if (a == b) return a + 1;
  const T apart = a - b;
  return apart > 0 ? a + log2e * log1p(exp2(-apart)) : apart <= 0 ? b + log2e * log1p(exp2(apart)) : apart;
}

// Integers wrap. NumPy raises for exponents that are negative.
template <class T>
ACCEL_INLINE T power(T base, T exponent) {
  u64 result = 1, factor = (u64)base;
  for (u64 rest = (u64)exponent; rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return (T)result;
}
ACCEL_INLINE f32 power(f32 base, f32 exponent) { return exponent == 2 ? base * base : ::powf(base, exponent); }
ACCEL_INLINE f64 power(f64 base, f64 exponent) { return exponent == 2 ? base * base : ::pow(base, exponent); }
template <class T>
ACCEL_INLINE T float_power(T base, T exponent) {
  return power(base, exponent);
}

// What lies between the number and the next one away from zero.
template <class T>
ACCEL_INLINE T spacing(T a) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  return isfinite(a) ? __builtin_bit_cast(T, (Bits)(__builtin_bit_cast(Bits, a) + 1)) - a : (T)__builtin_nan("");
}
// Exponents beyond those of int are as good as its limits.
ACCEL_INLINE int exponent_of_int(i64 exponent) { return (int)index_max(index_min(exponent, 0x7fffffff), -0x7fffffff - 1); }
ACCEL_INLINE f32 ldexp(f32 a, i64 exponent) { return ::ldexpf(a, exponent_of_int(exponent)); }
ACCEL_INLINE f64 ldexp(f64 a, i64 exponent) { return ::ldexp(a, exponent_of_int(exponent)); }
