// Ceiling for the Mandelbrot cases: the whole loop over steps in registers, for a strip of points at a time, which ends as soon
// as all of its points have escaped.
//
// Inside means |z| < bound. The squared modulus tells the same as NumPy's rounded modulus but for values within rounding
// of the bound; the runner compares the results.

#include "common.h"

namespace {

constexpr int lanes = 16, strips = 4, width = lanes * strips;
using Floats = float __attribute__((vector_size(4 * lanes)));
using Ints = int32_t __attribute__((vector_size(4 * lanes)));

// fma(a, b, -c) of each lane: numpy.square of complex64 contracts the real part.
inline Floats fused(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return (Floats)_mm512_fmsub_ps((__m512)a, (__m512)b, (__m512)c);
#else
  Floats result;
  for (int i = 0; i < lanes; ++i) result[i] = __builtin_fmaf(a[i], b[i], -c[i]);
  return result;
#endif
}

inline bool any(Ints mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#else
  int32_t all = 0;
  for (int i = 0; i < lanes; ++i) all |= mask[i];
  return all != 0;
#endif
}

struct Strip {
  Floats c_re[strips], c_im[strips], re[strips] = {}, im[strips] = {};
  Ints count[strips] = {};

  void run(int steps, float limit) {
    for (int k = 0; k < steps; ++k) {
      Ints alive = {};
      for (int s = 0; s < strips; ++s) {
        const Floats imaginary = im[s] * im[s], product = re[s] * im[s];
        const Ints inside = re[s] * re[s] + imaginary < limit;
        alive |= inside;
        count[s] = inside ? Ints{} + k : count[s];
        re[s] = inside ? fused(re[s], re[s], imaginary) + c_re[s] : re[s];
        im[s] = inside ? product + product + c_im[s] : im[s];
      }
      if (!any(alive)) break;
    }
  }
};

void run_row(const float* real, int columns, float imag, int steps, float limit, float* z, int64_t* count) {
  for (int begin = 0; begin < columns; begin += width) {
    const int n = std::min(width, columns - begin);
    alignas(64) float axis[width], re[width], im[width];
    alignas(64) int32_t counts[width];
    for (int i = 0; i < width; ++i) axis[i] = real[begin + std::min(i, n - 1)];
    Strip strip;
    std::memcpy(strip.c_re, axis, sizeof axis);
    for (int s = 0; s < strips; ++s) strip.c_im[s] = Floats{} + imag;
    strip.run(steps, limit);
    std::memcpy(re, strip.re, sizeof re);
    std::memcpy(im, strip.im, sizeof im);
    std::memcpy(counts, strip.count, sizeof counts);
    for (int i = 0; i < n; ++i) {
      z[2 * (begin + i)] = re[i];
      z[2 * (begin + i) + 1] = im[i];
      count[begin + i] = counts[i] == steps - 1 ? 0 : counts[i];
    }
  }
}

}  // namespace

// z (rows, columns) complex64 and count int64; bound below 2**64.
CEILING void escape_time(const float* real, int64_t columns, const float* imag, int64_t rows, int64_t steps, double bound,
                         float* z, int64_t* count) {
  const auto limit = static_cast<float>(bound * bound);
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t r = 0; r < rows; ++r)
    run_row(real, static_cast<int>(columns), imag[r], static_cast<int>(steps), limit, z + 2 * r * columns, count + r * columns);
}
