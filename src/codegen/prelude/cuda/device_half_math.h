// Operations on float16 for which kernels for CPUs call NumPy's loops.
#define ACCEL_HALF_FUNCTION(name) \
  ACCEL_INLINE f16 name(f16 a) { return narrow(name(widen(a))); }
ACCEL_HALF_FUNCTION(cbrt)
ACCEL_HALF_FUNCTION(exp)
ACCEL_HALF_FUNCTION(exp2)
ACCEL_HALF_FUNCTION(expm1)
ACCEL_HALF_FUNCTION(log)
ACCEL_HALF_FUNCTION(log2)
ACCEL_HALF_FUNCTION(log10)
ACCEL_HALF_FUNCTION(log1p)
ACCEL_HALF_FUNCTION(sin)
ACCEL_HALF_FUNCTION(cos)
ACCEL_HALF_FUNCTION(tan)
ACCEL_HALF_FUNCTION(arcsin)
ACCEL_HALF_FUNCTION(arccos)
ACCEL_HALF_FUNCTION(arctan)
ACCEL_HALF_FUNCTION(sinh)
ACCEL_HALF_FUNCTION(cosh)
ACCEL_HALF_FUNCTION(tanh)
ACCEL_HALF_FUNCTION(arcsinh)
ACCEL_HALF_FUNCTION(arccosh)
ACCEL_HALF_FUNCTION(arctanh)
ACCEL_HALF_FUNCTION(degrees)
ACCEL_HALF_FUNCTION(rad2deg)
ACCEL_HALF_FUNCTION(radians)
ACCEL_HALF_FUNCTION(deg2rad)
ACCEL_HALF_BINARY(arctan2)
ACCEL_HALF_BINARY(hypot)
ACCEL_HALF_BINARY(logaddexp)
ACCEL_HALF_BINARY(logaddexp2)
ACCEL_HALF_BINARY(power)
ACCEL_HALF_FUNCTION(frexp_mantissa)
ACCEL_HALF_FUNCTION(modf_fraction)
ACCEL_INLINE i32 frexp_exponent(f16 a) { return frexp_exponent(widen(a)); }
ACCEL_INLINE f16 ldexp(f16 a, i64 exponent) { return narrow(ldexp(widen(a), exponent)); }
// Outside of 32 bits NumPy has the low bits of the least integer of 64, unlike of float32.
template <>
struct Cast<u32, f16> {
  ACCEL_INLINE u32 of(f16 a) { return (u32)to_i64(widen(a)); }
};

ACCEL_INLINE f16 nextafter(f16 a, f16 b) {
  if (isnan(a) | isnan(b)) return half_of_bits(0x7e00);
  if (equal(a, b)) return b;  // as NumPy 2.5 and the wider dtypes; earlier versions have the sign of the first zero
  if (logical_not(a)) return half_of_bits((u16)((half_bits(b) & 0x8000) | 1));
  const bool grows = (half_bits(a) >> 15) != 0 ? less(b, a) : less(a, b);
  return half_of_bits((u16)(half_bits(a) + (grows ? 1 : -1)));
}
// The unit in the last place; below a negative power of 2 it is that of the next number towards zero.
ACCEL_INLINE f16 spacing(f16 a) {
  const int bits = half_bits(a), exponent = (bits & 0x7c00) >> 10;
  if (exponent == 31) return half_of_bits(0x7e00);
  if (bits == 0x7bff) return half_of_bits(0x7c00);
  const int unit = exponent - 10 - ((bits & 0x8000) != 0 && (bits & 0x3ff) == 0);
  if (unit > 0) return half_of_bits((u16)(unit << 10));
  return half_of_bits((u16)(unit > -10 ? 1 << (unit + 9) : 1));
}
