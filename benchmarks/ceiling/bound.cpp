// The memory bound: reads `in` bytes and writes `out` bytes past the caches, on all threads, with next to no arithmetic.

#include "common.h"

CEILING int64_t bound(const char* from, int64_t in, char* to, int64_t out) {
  int64_t total = 0;
  constexpr int64_t chunk = 1 << 16;
  const int64_t chunks = (std::max(in, out) + chunk - 1) / chunk;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t read_begin = in / chunks * c / 64 * 64, read_end = c + 1 == chunks ? in : in / chunks * (c + 1) / 64 * 64;
    const auto* words = reinterpret_cast<const int64_t*>(from);
    int64_t sum = 0;
    for (int64_t i = read_begin / 8; i < read_end / 8; ++i) sum += words[i];
    total += sum;
    const int64_t write_begin = out / chunks * c / 64 * 64,
                  write_end = c + 1 == chunks ? out : out / chunks * (c + 1) / 64 * 64;
    alignas(64) char block[4096] = {static_cast<char>(sum)};
    for (int64_t i = write_begin; i < write_end; i += sizeof block)
      stream(to + i, block, std::min<int64_t>(sizeof block, write_end - i) / 4 * 4);
  }
  _mm_sfence();
  return total;
}
