// Functions of the C library that Python's numbers use (part "python").
#define ACCEL_LIBM1(name) \
  ACCEL_INLINE f64 libm_##name(f64 a) { return ::name(a); }
#define ACCEL_LIBM2(name) \
  ACCEL_INLINE f64 libm_##name(f64 a, f64 b) { return ::name(a, b); }
#define ACCEL_LIBM2F(name) \
  ACCEL_INLINE f32 libm_##name(f32 a, f32 b) { return ::name(a, b); }
