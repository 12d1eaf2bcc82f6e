#pragma once
// What the hand-written ceilings share: NumPy's inner loops, the pairwise sum and streaming stores.

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define CEILING extern "C" __attribute__((visibility("default")))

// NumPy's PyArrayMethod_StridedLoop, taken out of ufunc._get_strided_loop by the runner.
struct Loop {
  int (*function)(void* context, char* const* args, const intptr_t* dims, const intptr_t* strides, void* auxdata);
  void* context;
  void* auxdata;

  template <class T>
  void operator()(const T* from, T* to, intptr_t n) const {
    char* args[2] = {reinterpret_cast<char*>(const_cast<T*>(from)), reinterpret_cast<char*>(to)};
    const intptr_t strides[2] = {sizeof(T), sizeof(T)};
    function(context, args, &n, strides, auxdata);
  }
};

// NumPy's order of additions: one tree, split at n/2 rounded down to 8, leaves of at most 128 with 8 accumulators.
template <class T>
inline T pairwise_sum(const T* a, int64_t n) {
  if (n < 8) {
    T sum = T(-0.0);
    for (int64_t i = 0; i < n; ++i) sum += a[i];
    return sum;
  }
  if (n <= 128) {
    T r[8];
    for (int j = 0; j < 8; ++j) r[j] = a[j];
    int64_t i = 8;
    for (; i < n - n % 8; i += 8)
      for (int j = 0; j < 8; ++j) r[j] += a[i + j];
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum += a[i];
    return sum;
  }
  int64_t half = n / 2;
  half -= half % 8;
  return pairwise_sum(a, half) + pairwise_sum(a + half, n - half);
}

// Copies bytes past the caches: a large result is not read again soon, and its lines need not be fetched before they are
// overwritten. Any alignment of `to`; `bytes` is a multiple of 4.
inline void stream(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<const char*>(from);
  size_t head = std::min(bytes, (64 - reinterpret_cast<uintptr_t>(out) % 64) % 64);
  std::memcpy(out, in, head);
  size_t i = head;
#ifdef __AVX512F__
  for (; i + 64 <= bytes; i += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), _mm512_loadu_si512(in + i));
#elif defined(__AVX__)
  for (; i + 32 <= bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i)));
#else
  for (; i + 16 <= bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
#endif
  std::memcpy(out + i, in + i, bytes - i);
}
