// Python's numbers. The labels hide the functions from the compiler, which would fold or replace calls with other bits than
// those of the C library, which CPython uses.
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
ACCEL_LIBM2(nextafter)
ACCEL_LIBM2(pow)
ACCEL_LIBM2(remainder)

extern "C" f32 libm_powf(f32, f32) __asm__("powf") __attribute__((const));
extern "C" f32 libm_hypotf(f32, f32) __asm__("hypotf") __attribute__((const));
ACCEL_INLINE f64 scalar_hypot(f64 a, f64 b) { return libm_hypot(a, b); }
ACCEL_INLINE f32 scalar_hypot(f32 a, f32 b) { return libm_hypotf(a, b); }
