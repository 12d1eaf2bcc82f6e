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
  return {contracted_minus(a.re, b.re, a.im * b.im), contracted(a.re, b.im, a.im * b.re)};
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
