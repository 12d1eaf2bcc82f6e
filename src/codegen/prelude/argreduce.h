// argmin and argmax: the first of equals wins, and the first NaN wins over everything. `settled` tells that a NaN was found:
// a flag of its own, not a test of the best value so far, keeps selections of truth values (which g++ does not vectorise) away.
template <class T>
ACCEL_INLINE bool beats_argmin(T a, T best) {
  return is_less(a, best);
}
template <class T>
ACCEL_INLINE bool beats_argmax(T a, T best) {
  return is_less(best, a);
}
#if defined(ACCEL_HAS_HALF)
ACCEL_INLINE bool beats_argmin(f16 a, f16 best) { return is_less(widen(a), widen(best)); }
ACCEL_INLINE bool beats_argmax(f16 a, f16 best) { return is_less(widen(best), widen(a)); }
#endif
template <class R>
ACCEL_INLINE bool beats_argmin(complex_of<R> a, complex_of<R> best) {
  return is_less(a.re, best.re) | ((a.re == best.re) & is_less(a.im, best.im));
}
template <class R>
ACCEL_INLINE bool beats_argmax(complex_of<R> a, complex_of<R> best) {
  return is_less(best.re, a.re) | ((a.re == best.re) & is_less(best.im, a.im));
}

// An unsigned integer of T's size: tests on T collected in it stay in vectors of one width.
template <int size>
struct MaskOf {
  typedef u64 type;
};
template <>
struct MaskOf<1> {
  typedef u8 type;
};
template <>
struct MaskOf<2> {
  typedef u16 type;
};
template <>
struct MaskOf<4> {
  typedef u32 type;
};

// Whether one of `count` elements is better than `best`, which is no NaN.
template <int count, class T, class Element, class Beats>
ACCEL_INLINE bool any_beats(i64 begin, T best, Element element, Beats beats) {
  typedef typename MaskOf<sizeof(T)>::type Mask;
  Mask any = 0;
#pragma GCC ivdep
  for (i64 i = 0; i < count; ++i) {
    const T value = element(begin + i);
    any |= beats(value, best) | isnan(value) ? (Mask)-1 : (Mask)0;
  }
  return any != 0;
}

template <class T>
struct Extreme {
  T best;
  i64 where;
  bool settled;

  // Elements come in ascending order of their index.
  template <class Beats>
  __attribute__((always_inline)) void see(T value, i64 i, bool first, Beats beats) {
    const bool nan = isnan(value), better = !settled & (beats(value, best) | nan | first);
    best = better ? value : best;
    where = better ? i : where;
    settled = settled | nan;
  }
};

// One step of one of many extremes side by side, without branches. `open` collects whether an element needs the steps above.
template <class T, class Mask, class Beats>
ACCEL_INLINE void see_lane(T& best, i64& where, T value, i64 i, bool first, Mask& open, Beats beats) {
  const bool better = first | beats(value, best);
  open |= isnan(value) ? (Mask)-1 : (Mask)0;
  best = better ? value : best;
  where = better ? i : where;
}

// The extreme of element(begin) ... element(end - 1).
// Element by element: for elements that are worked out by loops of their own.
template <class T, class Element, class Beats>
ACCEL_INLINE Extreme<T> argreduce_serial(i64 begin, i64 end, Element element, Beats beats) {
  Extreme<T> extreme = {};
  for (i64 i = begin; i < end; ++i) extreme.see(element(i), i, i == begin, beats);
  return extreme;
}
// For simple elements: blocks that hold nothing better are passed over by one vector test.
template <class T, class Element, class Beats>
ACCEL_INLINE Extreme<T> argreduce(i64 begin, i64 end, Element element, Beats beats) {
  constexpr i64 large = 256, small = 32;
#if defined(ACCEL_QUIET_COMPARISONS)
  constexpr bool may_stop = false;  // later elements may have events
#else
  constexpr bool may_stop = true;  // the NaN had an event
#endif
  Extreme<T> extreme = {};
  for (i64 block = begin; block < end; block += large) {
    if (may_stop && extreme.settled) break;
    const i64 block_end = index_min(block + large, end);
    if (block > begin && block + large <= end && !any_beats<large>(block, extreme.best, element, beats)) continue;
    for (i64 first = block; first < block_end; first += small) {
      if (may_stop && extreme.settled) break;
      if (first > begin && first + small <= end && !any_beats<small>(first, extreme.best, element, beats)) continue;
      for (i64 i = first; i < index_min(first + small, end); ++i) extreme.see(element(i), i, i == begin, beats);
    }
  }
  return extreme;
}
