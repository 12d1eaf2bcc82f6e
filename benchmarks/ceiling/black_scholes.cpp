// Ceiling for the Black-Scholes case: one pass over tiles that stay in L1, NumPy's own log and exp loops.

#include "common.h"

namespace {

constexpr int tile = 512;

// cdf(d) = 0.5 * (1 + erf(d / sqrt(2))), erf by Abramowitz and Stegun 7.1.26, operation by operation as in the case.
void cdf(const Loop& exp, const double* d, int n, double* result) {
  alignas(64) double x[tile], e[tile];
  for (int i = 0; i < n; ++i) x[i] = d[i] / 1.4142135623730951;
  for (int i = 0; i < n; ++i) {
    const double a = std::fabs(x[i]);
    e[i] = -a * a;
  }
  exp(e, e, n);
  for (int i = 0; i < n; ++i) {
    const double t = 1.0 / (1.0 + 0.3275911 * std::fabs(x[i]));
    const double poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    const double y = 1.0 - poly * e[i];
    const double erf = x[i] < 0 ? -y : y;
    result[i] = 0.5 * (1.0 + erf);
  }
}

}  // namespace

CEILING void black_scholes(const Loop* log, const Loop* exp, const double* price, const double* strike, const double* years,
                           double rate, double volatility, int64_t n, double* call, double* put) {
  const double drift = rate + 0.5 * volatility * volatility;
#pragma omp parallel for schedule(static)
  for (int64_t begin = 0; begin < n; begin += tile) {
    const int m = static_cast<int>(std::min<int64_t>(tile, n - begin));
    alignas(64) double d1[tile], d2[tile], root[tile], discounted[tile], ratio[tile], first[tile], second[tile];
    const double *s = price + begin, *k = strike + begin, *t = years + begin;
    for (int i = 0; i < m; ++i) {
      ratio[i] = s[i] / k[i];
      root[i] = volatility * std::sqrt(t[i]);
      discounted[i] = -rate * t[i];
    }
    (*log)(ratio, ratio, m);
    (*exp)(discounted, discounted, m);
    for (int i = 0; i < m; ++i) {
      discounted[i] = k[i] * discounted[i];
      d1[i] = (ratio[i] + drift * t[i]) / root[i];
      d2[i] = d1[i] - root[i];
    }
    cdf(*exp, d1, m, first);
    cdf(*exp, d2, m, second);
    for (int i = 0; i < m; ++i) {
      first[i] = s[i] * first[i] - discounted[i] * second[i];
      second[i] = first[i] - s[i] + discounted[i];
    }
    stream(call + begin, first, m * sizeof(double));
    stream(put + begin, second, m * sizeof(double));
  }
  _mm_sfence();
}
