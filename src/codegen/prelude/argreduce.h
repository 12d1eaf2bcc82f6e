// argmin and argmax: the first of equals wins, and the first NaN wins over everything.
template <class T>
ACCEL_INLINE bool beats_argmin(T a, T best) {
  return (a < best) | ((a != a) & (best == best));
}
template <class T>
ACCEL_INLINE bool beats_argmax(T a, T best) {
  return (a > best) | ((a != a) & (best == best));
}
#if defined(ACCEL_HAS_HALF)
ACCEL_INLINE bool beats_argmin(f16 a, f16 best) { return beats_argmin(widen(a), widen(best)); }
ACCEL_INLINE bool beats_argmax(f16 a, f16 best) { return beats_argmax(widen(a), widen(best)); }
#endif
// Complex numbers: parts are compared as they are, so an element with a NaN is found by its own test.
template <class R>
ACCEL_INLINE bool beats_argmin(complex_of<R> a, complex_of<R> best) {
  const bool less = (a.re < best.re) | ((a.re == best.re) & (a.im < best.im)), nan = (a.re != a.re) | (a.im != a.im);
  return (less | nan) & (best.re == best.re) & (best.im == best.im);
}
template <class R>
ACCEL_INLINE bool beats_argmax(complex_of<R> a, complex_of<R> best) {
  const bool more = (a.re > best.re) | ((a.re == best.re) & (a.im > best.im)), nan = (a.re != a.re) | (a.im != a.im);
  return (more | nan) & (best.re == best.re) & (best.im == best.im);
}

// Short runs element by element; long ones tile by tile: a tile that holds nothing better is passed over by one vector test.
template <class T, class Element, class Beats>
ACCEL_INLINE i64 argreduce(i64 n, Element element, Beats beats) {
  T best = element(0);
  i64 where = 0, i = 1;
  if (n >= 64) {
    T tile[128] __attribute__((aligned(64)));
    for (i = 0; i < n; i += 128) {
      const int m = (int)index_min(n - i, 128);
#pragma GCC ivdep
      for (int j = 0; j < m; ++j) tile[j] = element(i + j);
      u32 any = 0;
      for (int j = 0; j < m; ++j) any |= beats(tile[j], best);
      if (any == 0) continue;
      for (int j = 0; j < m; ++j) {
        if (beats(tile[j], best)) best = tile[j], where = i + j;
      }
    }
    return where;
  }
  for (; i < n; ++i) {
    const T value = element(i);
    const bool better = beats(value, best);
    best = better ? value : best;
    where = better ? i : where;
  }
  return where;
}
