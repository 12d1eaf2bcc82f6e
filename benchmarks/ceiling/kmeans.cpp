// Ceilings for k-means: the index of the nearest centre of each point, with NumPy's bits.
//
// numpy.argmin compares rounded square roots, and two different squares may have the same one: then the first centre
// wins. Comparing squares decides all but such near ties; a tile that holds one (or a NaN) is done again with roots.

#include "common.h"

namespace {

constexpr int tile = 512;
constexpr double apart = 1 - 8 * 0x1p-52;  // squares this far apart have different rounded roots
constexpr double tiny = 1e-290;            // below, squares are not spaced finely enough for that

// Squared distances of `n` points (columns[d][i]) to one centre, added up in numpy.add.reduce's order.
template <int D>
inline void squares(const double (*columns)[tile], const double* centre, int dims, int n, double* result) {
  const int count = D > 0 ? D : dims;
  auto square = [&](int d, int i) {
    const double difference = columns[d][i] - centre[d];
    return difference * difference;
  };
  if (count < 8) {
    for (int i = 0; i < n; ++i) result[i] = count > 0 ? square(0, i) : 0.0;
    for (int d = 1; d < count; ++d)
      for (int i = 0; i < n; ++i) result[i] += square(d, i);
    return;
  }
  alignas(64) double r[8][tile];
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < n; ++i) r[j][i] = square(j, i);
  int d = 8;
  for (; d < count - count % 8; ++d)
    for (int i = 0; i < n; ++i) r[d % 8][i] += square(d, i);
  for (int i = 0; i < n; ++i)
    result[i] = ((r[0][i] + r[1][i]) + (r[2][i] + r[3][i])) + ((r[4][i] + r[5][i]) + (r[6][i] + r[7][i]));
  for (; d < count; ++d)
    for (int i = 0; i < n; ++i) result[i] += square(d, i);
}

// One tile by the definition: rounded roots, the first NaN wins, then the first least.
template <int D>
void by_roots(const double (*columns)[tile], const double* centres, int k, int dims, int n, int64_t* nearest) {
  alignas(64) double square[tile], best[tile];
  for (int c = 0; c < k; ++c) {
    squares<D>(columns, centres + c * dims, dims, n, square);
    for (int i = 0; i < n; ++i) {
      const double root = std::sqrt(square[i]);
      if (c == 0 || (!std::isnan(best[i]) && (root < best[i] || std::isnan(root)))) best[i] = root, nearest[i] = c;
    }
  }
}

// Takes centre c when it is certainly nearer; says whether the squares do not tell.
inline bool consider(double square, int c, double& best, int64_t& nearest) {
  const bool keeps = square >= best, wins = (square < best * apart) & (best > tiny);
  nearest = wins ? c : nearest;
  best = wins ? square : best;
  return !(keeps | wins);
}

using Doubles = double __attribute__((vector_size(64)));
using Integers = int64_t __attribute__((vector_size(64)));

// Fewer than eight dimensions, added up from the first to the last: sixteen points at a time against every centre, so that
// the least square so far and its index stay in registers. `n` may be rounded up: tiles are whole.
template <int D>
int64_t consider_all(const double (*columns)[tile], const double* centres, int k, int n, double* best, int64_t* nearest) {
  constexpr int lanes = 8, side = 2;
  Integers clear = Integers{} - 1;
  for (int i = 0; i < n; i += lanes * side) {
    Doubles least[side], point[side][D];
    Integers index[side] = {};
    for (int s = 0; s < side; ++s) {
      least[s] = *reinterpret_cast<const Doubles*>(best + i + s * lanes);
      for (int d = 0; d < D; ++d) point[s][d] = *reinterpret_cast<const Doubles*>(&columns[d][i + s * lanes]);
    }
    for (int c = 1; c < k; ++c)
      for (int s = 0; s < side; ++s) {
        Doubles square = (point[s][0] - centres[c * D]) * (point[s][0] - centres[c * D]);
        for (int d = 1; d < D; ++d) square += (point[s][d] - centres[c * D + d]) * (point[s][d] - centres[c * D + d]);
        const Integers keeps = square >= least[s], wins = (square < least[s] * apart) & (least[s] > tiny);
        clear &= keeps | wins;
        index[s] = wins ? Integers{} + c : index[s];
        least[s] = wins ? square : least[s];
      }
    for (int s = 0; s < side; ++s) std::memcpy(nearest + i + s * lanes, &index[s], sizeof index[s]);
  }
  int64_t all = -1;
  for (int j = 0; j < lanes; ++j) all &= clear[j];
  return ~all;
}

template <int K, int D>
void assign_tile(const double* points, const double* centres, int k, int dims, int n, int64_t* nearest) {
  alignas(64) double columns[D > 0 ? D : 64][tile];
  alignas(64) double best[tile], square[tile];
  for (int d = 0; d < dims; ++d)
    for (int i = 0; i < n; ++i) columns[d][i] = points[i * (D > 0 ? D : dims) + d];
  const int points_here = n;
  n = (n + 15) / 16 * 16;
  for (int d = 0; d < dims; ++d)
    for (int i = points_here; i < n; ++i) columns[d][i] = 0;
  squares<D>(columns, centres, dims, n, best);
  for (int i = 0; i < n; ++i) nearest[i] = 0;
  int64_t unclear = 0;
  for (int i = 0; i < n; ++i) unclear |= !(best[i] == best[i]);
  int c = 1;
  if constexpr (D > 0 && D < 8) {
    unclear |= consider_all<D>(columns, centres, k, n, best, nearest);
    c = k;
  }
  for (; c < k; ++c) {
    squares<D>(columns, centres + c * dims, dims, n, square);
    for (int i = 0; i < n; ++i) unclear |= consider(square[i], c, best[i], nearest[i]);
  }
  if (unclear) by_roots<D>(columns, centres, k, dims, points_here, nearest);
}

#ifdef __AVX512F__
// Two centres in the plane, all in registers: eight points per step, results stored past the caches.
int64_t assign_two(const double* points, const double* centres, int64_t n, int64_t* nearest) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  const __m512d x0 = _mm512_set1_pd(centres[0]), y0 = _mm512_set1_pd(centres[1]), x1 = _mm512_set1_pd(centres[2]),
                y1 = _mm512_set1_pd(centres[3]), factor = _mm512_set1_pd(apart), least = _mm512_set1_pd(tiny);
  const __m512i one = _mm512_set1_epi64(1);
  __mmask8 clear = 0xff;
  int64_t i = 0;
  for (; i + 8 <= n && clear == 0xff; i += 8) {
    const __m512d a = _mm512_loadu_pd(points + 2 * i), b = _mm512_loadu_pd(points + 2 * i + 8);
    const __m512d x = _mm512_permutex2var_pd(a, even, b), y = _mm512_permutex2var_pd(a, odd, b);
    const __m512d u0 = _mm512_sub_pd(x, x0), v0 = _mm512_sub_pd(y, y0), u1 = _mm512_sub_pd(x, x1), v1 = _mm512_sub_pd(y, y1);
    const __m512d first = _mm512_add_pd(_mm512_mul_pd(u0, u0), _mm512_mul_pd(v0, v0));
    const __m512d second = _mm512_add_pd(_mm512_mul_pd(u1, u1), _mm512_mul_pd(v1, v1));
    const __mmask8 keeps = _mm512_cmp_pd_mask(second, first, _CMP_GE_OQ);
    const __mmask8 wins =
        _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(first, least, _CMP_GT_OQ), second, _mm512_mul_pd(first, factor), _CMP_LT_OQ);
    clear = keeps | wins;
    _mm512_stream_si512(reinterpret_cast<__m512i*>(nearest + i), _mm512_maskz_mov_epi64(wins, one));
  }
  return clear == 0xff ? i : i - 8;  // how many are done
}
#endif

// Indices of points [begin, end), tile by tile.
template <int K, int D>
void assign_range(const double* points, const double* centres, int k, int dims, int64_t begin, int64_t end, int64_t* nearest) {
  alignas(64) int64_t indices[tile];
  for (int64_t i = begin; i < end;) {
    int64_t n = std::min<int64_t>(tile, end - i);
#ifdef __AVX512F__
    if (K == 2 && D == 2) {
      n = std::min<int64_t>(n, (64 - reinterpret_cast<uintptr_t>(nearest + i) % 64) % 64 / sizeof(int64_t));
      if (n == 0) {
        i += assign_two(points + 2 * i, centres, end - i, nearest + i);
        n = std::min<int64_t>(8, end - i);
      }
    }
#endif
    assign_tile<K, D>(points + i * dims, centres, K > 0 ? K : k, D > 0 ? D : dims, static_cast<int>(n), indices);
    stream(nearest + i, indices, n * sizeof(int64_t));
    i += n;
  }
}

template <int K, int D>
void assign(const double* points, const double* centres, int k, int dims, int64_t n, int64_t* nearest) {
  constexpr int64_t chunk = 64 * tile;
#pragma omp parallel for schedule(static)
  for (int64_t begin = 0; begin < n; begin += chunk)
    assign_range<K, D>(points, centres, k, dims, begin, std::min(n, begin + chunk), nearest);
  _mm_sfence();
}

}  // namespace

// points (n, dims), centres (k, dims), both C order; 1 <= k, dims <= 64. The order of the axes of the broadcast difference
// changes neither operands nor order of any addition, so one routine is the ceiling of both forms.
CEILING void kmeans_general(const double* points, const double* centres, int64_t k, int64_t dims, int64_t n, int64_t* nearest) {
  const int count = static_cast<int>(k), d = static_cast<int>(dims);
  switch (d) {
    case 1:
      return assign<0, 1>(points, centres, count, d, n, nearest);
    case 2:
      return assign<0, 2>(points, centres, count, d, n, nearest);
    case 3:
      return assign<0, 3>(points, centres, count, d, n, nearest);
    case 4:
      return assign<0, 4>(points, centres, count, d, n, nearest);
    case 8:
      return assign<0, 8>(points, centres, count, d, n, nearest);
    case 16:
      return assign<0, 16>(points, centres, count, d, n, nearest);
    default:
      return assign<0, 0>(points, centres, count, d, n, nearest);
  }
}

CEILING void kmeans_two_by_two(const double* points, const double* centres, int64_t n, int64_t* nearest) {
  assign<2, 2>(points, centres, 2, 2, n, nearest);
}
