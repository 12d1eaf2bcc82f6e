// Python's numbers. The labels hide the functions from the compiler, which would fold or replace calls with other bits than
// those of the C library, which CPython uses.
#define ACCEL_LIBM1(name) extern "C" f64 libm_##name(f64) __asm__(#name) __attribute__((const));
#define ACCEL_LIBM2(name) extern "C" f64 libm_##name(f64, f64) __asm__(#name) __attribute__((const));
#define ACCEL_LIBM2F(name) extern "C" f32 libm_##name(f32, f32) __asm__(#name) __attribute__((const));
