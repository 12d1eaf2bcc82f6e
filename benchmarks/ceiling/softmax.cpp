// Ceiling for softmax over the last axis: a row stays in L1 from its maximum to its division.

#include "common.h"

CEILING void softmax(const Loop* exp, const float* x, int64_t rows, int64_t columns, float* result) {
#pragma omp parallel
  {
    auto* row = static_cast<float*>(std::aligned_alloc(64, (columns * sizeof(float) + 63) / 64 * 64 + 64));
#pragma omp for schedule(static)
    for (int64_t r = 0; r < rows; ++r) {
      const float* in = x + r * columns;
      // 64 maxima side by side: the largest of numbers does not depend on the order. A NaN wins.
      float lanes[64];
      for (float& lane : lanes) lane = in[0];
      int nan = 0;
      int64_t i = 0;
      for (; i + 64 <= columns; i += 64)
        for (int j = 0; j < 64; ++j) {
          lanes[j] = lanes[j] > in[i + j] ? lanes[j] : in[i + j];
          nan |= in[i + j] != in[i + j];
        }
      for (; i < columns; ++i) {
        lanes[0] = lanes[0] > in[i] ? lanes[0] : in[i];
        nan |= in[i] != in[i];
      }
      float top = lanes[0];
      for (float lane : lanes) top = top > lane ? top : lane;
      if (nan) top = __builtin_nanf("");
      for (i = 0; i < columns; ++i) row[i] = in[i] - top;
      (*exp)(row, row, columns);
      const float sum = pairwise_sum(row, columns);
      for (i = 0; i < columns; ++i) row[i] = row[i] / sum;
      stream(result + r * columns, row, columns * sizeof(float));
    }
    std::free(row);
  }
  _mm_sfence();
}
