// complex64 and complex128. Order is lexicographic; an operand with a NaN is not ordered.
#define ACCEL_COMPLEX \
  template <class R>  \
  ACCEL_INLINE

ACCEL_COMPLEX complex_of<R> add(complex_of<R> a, complex_of<R> b) { return {a.re + b.re, a.im + b.im}; }
ACCEL_COMPLEX complex_of<R> subtract(complex_of<R> a, complex_of<R> b) { return {a.re - b.re, a.im - b.im}; }
ACCEL_COMPLEX complex_of<R> multiply(complex_of<R> a, complex_of<R> b) {
  return {rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
}
// `a`, negated when `other`. Both parts of a complex number pass through this function, so that g++ puts them into one vector.
template <class R>
ACCEL_INLINE R with_sign(R a, bool other) {
  typedef typename SignedOf<sizeof(R)>::type Bits;
  const Bits sign = (Bits)((u64)other << (sizeof(R) * 8 - 1)) | (Bits)unknown_zero;
  return __builtin_bit_cast(R, __builtin_bit_cast(Bits, a) ^ sign);
}
// NumPy's array loops contract products where the CPU can: a quarter of the results differ from the above.
ACCEL_COMPLEX complex_of<R> fused_multiply(complex_of<R> a, complex_of<R> b) {
  return {contracted(a.re, b.re, -(a.im * b.im)), contracted(a.re, b.im, a.im * b.re)};
}
// Infinite when a part is, even beside a NaN. The magnitudes are compared by their bits, which are ordered as integers: no
// event, and NaN is above all. Dividend and divisor are replaced where they would give 0/0, inf/inf or NaN, which raise events.
// No constant is chosen: g++ would make branches of a selection whose constant a later operation folds.
ACCEL_COMPLEX R absolute(complex_of<R> a) {
  typedef typename SignedOf<sizeof(R)>::type Bits;
  constexpr Bits infinity = __builtin_bit_cast(Bits, (R)__builtin_inf()), quiet = (Bits)1 << (sizeof(R) == 8 ? 51 : 22);
  const Bits x = __builtin_bit_cast(Bits, fabs(a.re)), y = __builtin_bit_cast(Bits, fabs(a.im));
  const Bits larger = x > y ? x : y, smaller = x > y ? y : x;
  const Bits number = larger <= infinity ? (Bits)-1 : (Bits)0;
  const Bits unit = (larger & number) | (infinity & ~number), divisor = unit | (larger == 0 ? (Bits)1 : (Bits)0);
  const Bits dividend = smaller < infinity ? smaller : infinity - 1;
  const R ratio = __builtin_bit_cast(R, dividend) / __builtin_bit_cast(R, divisor);
  const R length = sqrt(contracted(ratio, ratio, (R)1)) * __builtin_bit_cast(R, unit);
  const Bits special = smaller >= infinity ? smaller : larger;
  const Bits quieted = special | (special > infinity ? quiet : (Bits)0);
  return __builtin_bit_cast(R, (__builtin_bit_cast(Bits, length) & number) | (quieted & ~number));
}
// Squares decide how moduli compare with a bound: outside of these limits rounding cannot change the result. Between them the
// modulus itself is needed. Parts that are far from 1 are replaced by others that are on the same side of the bound: no product
// overflows or underflows.
template <class R>
struct SquareLimits {
  R below, above;
};
template <class R>
constexpr R large_part = sizeof(R) == 4 ? (R)0x1p60 : (R)0x1p500;
template <class R>
ACCEL_INLINE SquareLimits<R> square_limits(R bound) {
  constexpr R least = 0x1p20 / large_part<R>, most = large_part<R> / 2;
  const bool8 plain = is_less_equal(least, bound) & is_less_equal(bound, most);
  const R number = opaque(plain ? bound : (R)1), square = number * number;
  return {plain ? square * (R)(1 - 0x1p-18) : (R)-1, plain ? square * (R)(1 + 0x1p-18) : (R)__builtin_inf()};
}
// By the bits, ordered as integers: of a choice between numbers the compiler would make one between squares.
ACCEL_INLINE f32 moderate_part(f32 part) {
  constexpr i32 low = __builtin_bit_cast(i32, 1 / large_part<f32>), high = __builtin_bit_cast(i32, large_part<f32>);
  const i32 bits = __builtin_bit_cast(i32, part) & 0x7fffffff, raised = bits < low ? low : bits;
  return __builtin_bit_cast(f32, raised > high ? high : raised);
}
ACCEL_INLINE f64 moderate_part(f64 part) {
  constexpr i64 low = __builtin_bit_cast(i64, 1 / large_part<f64>), high = __builtin_bit_cast(i64, large_part<f64>);
  const i64 bits = __builtin_bit_cast(i64, part) & 0x7fffffffffffffff, raised = bits < low ? low : bits;
  return __builtin_bit_cast(f64, raised > high ? high : raised);
}
ACCEL_COMPLEX R moderate_square(complex_of<R> a) {
  const R x = moderate_part(a.re), y = moderate_part(a.im);
  return contracted(x, x, y * y);
}
ACCEL_COMPLEX complex_of<R> square(complex_of<R> a) { return multiply(a, a); }
ACCEL_COMPLEX complex_of<R> divide(complex_of<R> a, complex_of<R> b) {
  if (fabs(b.re) >= fabs(b.im)) {
    if (b.re == 0 && b.im == 0) return {a.re / fabs(b.re), a.im / fabs(b.im)};
    const R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
    return {(a.re + rounded(a.im * ratio)) * scale, (a.im - rounded(a.re * ratio)) * scale};
  }
  const R ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
  return {(rounded(a.re * ratio) + a.im) * scale, (rounded(a.im * ratio) - a.re) * scale};
}
ACCEL_COMPLEX complex_of<R> negative(complex_of<R> a) { return {negative(a.re), negative(a.im)}; }
ACCEL_COMPLEX complex_of<R> conjugate(complex_of<R> a) { return {with_sign(a.re, false), with_sign(a.im, true)}; }
ACCEL_COMPLEX R real(complex_of<R> a) { return a.re; }
ACCEL_COMPLEX R imag(complex_of<R> a) { return a.im; }

ACCEL_COMPLEX bool8 nonzero(complex_of<R> a) { return (a.re != 0) | (a.im != 0); }
ACCEL_COMPLEX bool8 isnan(complex_of<R> a) { return isnan(a.re) | isnan(a.im); }
ACCEL_COMPLEX bool8 isinf(complex_of<R> a) { return isinf(a.re) | isinf(a.im); }
ACCEL_COMPLEX bool8 isfinite(complex_of<R> a) { return isfinite(a.re) & isfinite(a.im); }
ACCEL_COMPLEX bool8 logical_not(complex_of<R> a) { return !nonzero(a); }
ACCEL_COMPLEX bool8 logical_and(complex_of<R> a, complex_of<R> b) { return nonzero(a) & nonzero(b); }
ACCEL_COMPLEX bool8 logical_or(complex_of<R> a, complex_of<R> b) { return nonzero(a) | nonzero(b); }
ACCEL_COMPLEX bool8 logical_xor(complex_of<R> a, complex_of<R> b) { return nonzero(a) != nonzero(b); }

ACCEL_COMPLEX bool8 equal(complex_of<R> a, complex_of<R> b) { return (a.re == b.re) & (a.im == b.im); }
ACCEL_COMPLEX bool8 not_equal(complex_of<R> a, complex_of<R> b) { return (a.re != b.re) | (a.im != b.im); }
#define ACCEL_COMPLEX_ORDER(name, op)                                                                               \
  ACCEL_COMPLEX bool8 name(complex_of<R> a, complex_of<R> b) {                                                      \
    return ((a.re op b.re) & (a.re != b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im op b.im)); \
  }
ACCEL_COMPLEX_ORDER(less, <)
ACCEL_COMPLEX_ORDER(less_equal, <=)
ACCEL_COMPLEX_ORDER(greater, >)
ACCEL_COMPLEX_ORDER(greater_equal, >=)
ACCEL_COMPLEX complex_of<R> maximum(complex_of<R> a, complex_of<R> b) { return isnan(a) | greater_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> minimum(complex_of<R> a, complex_of<R> b) { return isnan(a) | less_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> fmax(complex_of<R> a, complex_of<R> b) { return isnan(b) | greater_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> fmin(complex_of<R> a, complex_of<R> b) { return isnan(b) | less_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> clip(complex_of<R> a, complex_of<R> low, complex_of<R> high) {
  const complex_of<R> raised = isnan(a) | greater(a, low) ? a : low;
  return isnan(raised) | less(raised, high) ? raised : high;
}

template <class To, class R>
struct Cast<To, complex_of<R>> {
  ACCEL_INLINE To of(complex_of<R> a) {
    if constexpr (__is_same(To, bool))
      return nonzero(a);
    else
      return cast<To>(a.re);
  }
};
template <class R, class From>
struct Cast<complex_of<R>, From> {
  ACCEL_INLINE complex_of<R> of(From a) { return {cast<R>(a), 0}; }
};
template <class R, class S>
struct Cast<complex_of<R>, complex_of<S>> {
  ACCEL_INLINE complex_of<R> of(complex_of<S> a) { return {(R)a.re, (R)a.im}; }
};
template <class R>
struct Lane<complex_of<R>> {
  ACCEL_INLINE complex_of<R> of(complex_of<R> a, bool8 in, u64 hidden) {
    return {Lane<R>::of(a.re, in, hidden), Lane<R>::of(a.im, in, hidden, cast<R>(0))};
  }
};
