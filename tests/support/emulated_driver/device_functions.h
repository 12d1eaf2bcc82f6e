// CUDA's functions for threads of a block and of a warp, atomics and intrinsics.
#pragma once

// Barriers and fences.
inline void __syncthreads() { emulated::calls->barrier(); }
inline void __syncwarp(unsigned mask = ~0u) { emulated::calls->warp(mask, 0, true); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Functions of a warp.
namespace emulated {

inline int lane() { return state.linear & 31; }

template <class T>
inline T value_of_lane(unsigned mask, T value, unsigned from) {
  static_assert(sizeof value == 4 || sizeof value == 8, "CUDA has no shuffle of this type");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = calls->warp(mask, bits, false)[from];
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Of a lane of the same segment of `width` lanes, or the thread's own.
template <class T>
inline T shuffle(unsigned mask, T value, int from, int width) {
  int first = lane() & -width;
  return value_of_lane(mask, value, from < first || from >= first + width ? lane() : from);
}

template <class T, class F>
inline T reduce(unsigned mask, T value, F combine) {
  const unsigned long long* all = calls->warp(mask, (unsigned long long)value, false);
  T result = T(all[__builtin_ctz(mask)]);
  for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1) result = combine(result, T(all[__builtin_ctz(rest)]));
  return result;
}

}  // namespace emulated

template <class T>
inline T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  return emulated::value_of_lane(mask, value, (emulated::lane() & -width) + (from & (width - 1)));
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int distance, int width = 32) {
  return emulated::shuffle(mask, value, emulated::lane() ^ distance, width);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  return emulated::shuffle(mask, value, emulated::lane() - int(distance), width);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  return emulated::shuffle(mask, value, emulated::lane() + int(distance), width);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned long long* all = emulated::calls->warp(mask, predicate != 0, false);
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= mask >> i & 1 && all[i] ? 1u << i : 0;
  return result;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }
template <class T>
inline T __reduce_add_sync(unsigned mask, T value) {
  return emulated::reduce(mask, value, [](T a, T b) { return T(a + b); });
}
template <class T>
inline T __reduce_max_sync(unsigned mask, T value) {
  return emulated::reduce(mask, value, [](T a, T b) { return a > b ? a : b; });
}
template <class T>
inline T __reduce_min_sync(unsigned mask, T value) {
  return emulated::reduce(mask, value, [](T a, T b) { return a < b ? a : b; });
}

// Atomics: relaxed, as CUDA's are.
namespace emulated {

template <class T>
struct Same {
  using Type = T;
};
template <class T>
using Argument = typename Same<T>::Type;  // takes no part in the deduction of T

template <class T, class F>
inline T update(T* address, F change) {
  T old, changed;
  __atomic_load(address, &old, 0);
  do changed = change(old);
  while (!__atomic_compare_exchange(address, &old, &changed, false, 0, 0));
  return old;
}

}  // namespace emulated

template <class T>
inline T atomicCAS(T* address, emulated::Argument<T> old, emulated::Argument<T> value) {
  __atomic_compare_exchange_n(address, &old, value, false, 0, 0);
  return old;
}
template <class T>
inline T atomicAdd(T* address, emulated::Argument<T> value) {
  return emulated::update(address, [=](T old) { return T(old + value); });
}
template <class T>
inline T atomicSub(T* address, emulated::Argument<T> value) {
  return emulated::update(address, [=](T old) { return T(old - value); });
}
template <class T>
inline T atomicMax(T* address, emulated::Argument<T> value) {
  return emulated::update(address, [=](T old) { return old > value ? old : value; });
}
template <class T>
inline T atomicMin(T* address, emulated::Argument<T> value) {
  return emulated::update(address, [=](T old) { return old < value ? old : value; });
}
template <class T>
inline T atomicExch(T* address, emulated::Argument<T> value) {
  return emulated::update(address, [=](T) { return value; });
}
template <class T>
inline T atomicOr(T* address, emulated::Argument<T> value) {
  return __atomic_fetch_or(address, value, 0);
}
template <class T>
inline T atomicAnd(T* address, emulated::Argument<T> value) {
  return __atomic_fetch_and(address, value, 0);
}

// Conversions: they saturate, and NaN becomes 0, or the top bit alone for 64 bits.
namespace emulated {

template <class I, class F>
inline I saturate(F x, I of_nan) {
  constexpr bool is_signed = I(-1) < 0;
  constexpr I least = is_signed ? I(1ull << (sizeof(I) * 8 - 1)) : I(0);
  const F top = ldexp(F(1), sizeof(I) * 8 - is_signed);
  if (x != x) return of_nan;
  if (x >= top) return I(~least);
  if (is_signed ? x < -top : x <= 0) return least;
  return I(x);
}

template <class To, class From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

constexpr unsigned long long top_bit = 1ull << 63;

}  // namespace emulated

inline int __double2int_rz(double x) { return emulated::saturate<int>(x, 0); }
inline int __float2int_rz(float x) { return emulated::saturate<int>(x, 0); }
inline unsigned __double2uint_rz(double x) { return emulated::saturate<unsigned>(x, 0); }
inline unsigned __float2uint_rz(float x) { return emulated::saturate<unsigned>(x, 0); }
inline long long __double2ll_rz(double x) { return emulated::saturate<long long>(x, (long long)emulated::top_bit); }
inline long long __float2ll_rz(float x) { return emulated::saturate<long long>(x, (long long)emulated::top_bit); }
inline unsigned long long __double2ull_rz(double x) { return emulated::saturate<unsigned long long>(x, emulated::top_bit); }
inline unsigned long long __float2ull_rz(float x) { return emulated::saturate<unsigned long long>(x, emulated::top_bit); }
inline int __float_as_int(float x) { return emulated::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return emulated::bits<unsigned>(x); }
inline float __int_as_float(int x) { return emulated::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return emulated::bits<float>(x); }
inline long long __double_as_longlong(double x) { return emulated::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return emulated::bits<double>(x); }
inline int __double2hiint(double x) { return int(emulated::bits<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return int(emulated::bits<unsigned long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return emulated::bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

// Integers.
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
#define EMULATED_EXTREMES(T)                       \
  inline T min(T a, T b) { return a < b ? a : b; } \
  inline T max(T a, T b) { return a > b ? a : b; }
EMULATED_EXTREMES(int)
EMULATED_EXTREMES(unsigned)
EMULATED_EXTREMES(long)
EMULATED_EXTREMES(unsigned long)
EMULATED_EXTREMES(long long)
EMULATED_EXTREMES(unsigned long long)

// Floats. CUDA's functions that the C library lacks may differ from these in the last bit.
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double sinpi(double x) { return sin(x * 3.141592653589793); }
inline float sinpif(float x) { return float(sinpi(double(x))); }
inline double cospi(double x) { return cos(x * 3.141592653589793); }
inline float cospif(float x) { return float(cospi(double(x))); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }

// Loads.
template <class T>
inline T __ldg(const T* address) {
  return *address;
}

// Packs.
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) longlong2 {
  long long x, y;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
