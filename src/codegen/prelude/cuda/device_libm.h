// Functions of the C library that Python's numbers use (part "python").
#define ACCEL_LIBM1(name) \
  ACCEL_INLINE f64 libm_##name(f64 a) { return ::name(a); }
#define ACCEL_LIBM2(name) \
  ACCEL_INLINE f64 libm_##name(f64 a, f64 b) { return ::name(a, b); }
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
ACCEL_LIBM2(nextafter)
ACCEL_LIBM2(pow)
ACCEL_LIBM2(remainder)
ACCEL_INLINE f32 libm_powf(f32 a, f32 b) { return ::powf(a, b); }
ACCEL_INLINE f64 scalar_hypot(f64 a, f64 b) { return ::hypot(a, b); }
ACCEL_INLINE f32 scalar_hypot(f32 a, f32 b) { return ::hypotf(a, b); }
