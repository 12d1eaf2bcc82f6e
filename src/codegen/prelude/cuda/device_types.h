// The same names as the CPU's parts "types" and "events" have, for text that NVRTC compiles. NVRTC is passed
// --device-as-default-execution-space: functions without a mark are the device's.
#if defined(__CUDACC_RTC__)
#pragma nv_diag_suppress 177  // functions of the prelude that a kernel does not call
#define __INT8_TYPE__ signed char
#define __INT16_TYPE__ short
#define __INT32_TYPE__ int
#define __INT64_TYPE__ long
#define __UINT8_TYPE__ unsigned char
#define __UINT16_TYPE__ unsigned short
#define __UINT32_TYPE__ unsigned int
#define __UINT64_TYPE__ unsigned long
// Functions that compilers for CPUs know without declarations.
#define __builtin_constant_p(x) 0  // NVRTC before 13.1 lacks it
#define __builtin_memcpy ::memcpy
#define __builtin_fabsf accel_magnitude
#define __builtin_fabs accel_magnitude
#define __builtin_sqrtf ::sqrtf
#define __builtin_sqrt ::sqrt
#define __builtin_rintf ::rintf
#define __builtin_rint ::rint
#define __builtin_copysignf ::copysignf
#define __builtin_copysign ::copysign
#define __builtin_fmodf ::fmodf
#define __builtin_fmod ::fmod
#define __builtin_fmaf ::fmaf
#define __builtin_fma ::fma
#define __builtin_frexp ::frexp
#define __builtin_ldexp ::ldexp
#define __builtin_popcountll(a) ::__popcll((long long)(a))
#define __builtin_ctzll(a) (::__ffsll((long long)(a)) - 1)
#define __builtin_isless(a, b) ((a) < (b))
#define __builtin_isgreater(a, b) ((a) > (b))
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ul)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ul)
#define __builtin_add_overflow(a, b, out) accel_overflows::sum(a, b, out)
#define __builtin_sub_overflow(a, b, out) accel_overflows::difference(a, b, out)
#define __builtin_mul_overflow(a, b, out) accel_overflows::product(a, b, out)
#define __is_same(A, B) accel_same_type<A, B>
template <class A, class B>
constexpr bool accel_same_type = false;
template <class A>
constexpr bool accel_same_type<A, A> = true;
// CUDA's fabs of a double leaves the sign of a NaN, and code that reads the bits takes it for a number then.
__forceinline__ float accel_magnitude(float a) { return __int_as_float(__float_as_int(a) & 0x7fffffff); }
__forceinline__ double accel_magnitude(double a) {
  return __longlong_as_double(__double_as_longlong(a) & 0x7fffffffffffffffll);
}
// Whether a sum, difference or product of 32 or 64 bits wraps. NVRTC before 13.1 has no functions for that.
namespace accel_overflows {
template <class T>
__forceinline__ bool sum(T a, T b, T* out) {
  *out = (T)((unsigned long long)a + (unsigned long long)b);
  if constexpr ((T)-1 < (T)0) return ((a ^ *out) & (b ^ *out)) < 0;
  return *out < a;
}
template <class T>
__forceinline__ bool difference(T a, T b, T* out) {
  *out = (T)((unsigned long long)a - (unsigned long long)b);
  if constexpr ((T)-1 < (T)0) return ((a ^ b) & (a ^ *out)) < 0;
  return a < b;
}
template <class T>
__forceinline__ bool product(T a, T b, T* out) {
  *out = (T)((unsigned long long)a * (unsigned long long)b);
  if constexpr (sizeof(T) < 8) {
    typedef long long Wide;
    return (Wide)*out != (Wide)a * (Wide)b;
  } else if constexpr ((T)-1 < (T)0) {
    return __mul64hi((long long)a, (long long)b) != ((long long)*out >> 63);
  } else {
    return __umul64hi((unsigned long long)a, (unsigned long long)b) != 0;
  }
}
}  // namespace accel_overflows
#endif

#define ACCEL_INLINE static __forceinline__
typedef bool bool8;
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef float f32;
typedef double f64;

// The index of an axis of n elements that is nearest to i.
ACCEL_INLINE i64 nearest_index(i64 i, i64 n) { return i < 0 ? 0 : i < n ? i : n - 1; }

// Literals (cpp_literal). Nothing is to be hidden from the compiler: there are no events, and the sign of a NaN is free.
constexpr f32 minus_one_f32 = -1;
constexpr f64 minus_one_f64 = -1;
constexpr u16 minus_one_bits_f16 = 0xbc00;
constexpr u64 unknown_zero = 0;
#define ACCEL_FAR (u64)0
ACCEL_INLINE f32 far_f32(u32 bits) { return __builtin_bit_cast(f32, bits); }
ACCEL_INLINE f64 far_f64(u64 bits) { return __builtin_bit_cast(f64, bits); }
template <class T>
ACCEL_INLINE T unforeseen(T a) {
  return a;
}

// There are no events. Products are not contracted (--fmad=false) but for these.
ACCEL_INLINE void raise_divide() {}
ACCEL_INLINE void raise_overflow() {}
template <class T>
ACCEL_INLINE T opaque(T value) {
  return value;
}
template <class T>
ACCEL_INLINE T computed(T value) {
  return value;
}
template <class T>
ACCEL_INLINE T held(T value) {
  return value;
}
template <class T>
ACCEL_INLINE T rounded(T value) {
  return value;
}
template <class T>
ACCEL_INLINE T negative_alone(T a) {
  return -a;
}
ACCEL_INLINE f32 contracted(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
ACCEL_INLINE f64 contracted(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
template <class R>
ACCEL_INLINE R contracted_minus(R a, R b, R c) {
  return contracted(a, b, -c);
}
struct Sink {
  u32 narrow = 0;
};
template <class T>
ACCEL_INLINE void do_not_optimize(Sink&, T) {}
ACCEL_INLINE void show(const Sink&) {}
