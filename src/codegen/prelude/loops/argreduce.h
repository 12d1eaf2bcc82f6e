// argmin and argmax: the first of equals wins, and the first NaN wins over everything. `settled`: a NaN was found. It is a
// separate flag and not a test of the best value so far, as g++ does not vectorise selections of truth values.
template <class T>
ACCEL_INLINE bool beats_argmin(T a, T best) {
  return is_less(a, best);
}
template <class T>
ACCEL_INLINE bool beats_argmax(T a, T best) {
  return is_less(best, a);
}
#if defined(ACCEL_HAS_HALF)
ACCEL_INLINE bool beats_argmin(f16 a, f16 best) { return less(a, best); }
ACCEL_INLINE bool beats_argmax(f16 a, f16 best) { return less(best, a); }
#endif
template <class R>
ACCEL_INLINE bool beats_argmin(complex_of<R> a, complex_of<R> best) {
  return is_less(a.re, best.re) | ((a.re == best.re) & is_less(a.im, best.im));
}
template <class R>
ACCEL_INLINE bool beats_argmax(complex_of<R> a, complex_of<R> best) {
  return is_less(best.re, a.re) | ((a.re == best.re) & is_less(best.im, a.im));
}
// The order of argmin or argmax: order(a, best) is whether `a` wins over `best`, `stays` whether it does not and is no NaN.
// `best` is no NaN.
#define ACCEL_EXTREME_ORDER(name, relation)                                                     \
  template <class T>                                                                            \
  struct name##_order {                                                                         \
    ACCEL_INLINE bool wins(T a, T best) { return beats_##name(a, best); }                       \
    __attribute__((always_inline)) bool operator()(T a, T best) const { return wins(a, best); } \
    ACCEL_INLINE bool stays(T a, T best) {                                                      \
      if constexpr (is_float<T>)                                                                \
        return relation;                                                                        \
      else                                                                                      \
        return !(wins(a, best) | isnan(a));                                                     \
    }                                                                                           \
  };
ACCEL_EXTREME_ORDER(argmin, is_less_equal(best, a))
ACCEL_EXTREME_ORDER(argmax, is_less_equal(a, best))

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

// Whether none of `count` elements is better than `best`, which is no NaN, or is a NaN.
template <int count, class T, class Element, class Order>
ACCEL_INLINE bool all_stay(i64 begin, T best, Element element, Order order) {
  typedef typename MaskOf<sizeof(T)>::type Mask;
  Mask all = (Mask)-1;
#pragma GCC ivdep
  for (i64 i = 0; i < count; ++i) all &= order.stays(element(begin + i), best) ? (Mask)-1 : (Mask)0;
  return all == (Mask)-1;
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
// Fewer lanes are no loop any more when g++ makes vectors.
template <class T>
constexpr int extreme_lanes = sizeof(T) < 8 ? 64 : 32;

// Takes `lanes` elements into as many extremes side by side. `nan` collects whether there are NaNs: of floats one test does for
// two.
template <int lanes, class T, class Mask, class Element, class Beats>
ACCEL_INLINE void see_lanes(T* lane, Mask* nan, i64 begin, Element element, Beats beats) {
  if constexpr (is_float<T>) {
    constexpr int half = lanes / 2;
#pragma GCC ivdep
    for (int k = 0; k < half; ++k) {
      const T low = element(begin + k), high = element(begin + k + half);
      nan[k] |= __builtin_isunordered(low, high) ? (Mask)-1 : (Mask)0;
      lane[k] = beats(low, lane[k]) ? low : lane[k];
      lane[k + half] = beats(high, lane[k + half]) ? high : lane[k + half];
    }
  } else {
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) {
      const T value = element(begin + k);
      nan[k] |= isnan(value) ? (Mask)-1 : (Mask)0;
      lane[k] = beats(value, lane[k]) ? value : lane[k];
    }
  }
}
// The best of elements [begin, end), at least extreme_lanes<T>, side by side; false: there is a NaN among them.
template <class T, class Element, class Beats>
ACCEL_INLINE bool find_best(i64 begin, i64 end, T& best, Element element, Beats beats) {
  typedef typename MaskOf<sizeof(T)>::type Mask;
  constexpr int lanes = extreme_lanes<T>;
  T lane[lanes] __attribute__((aligned(64)));
  Mask nan[lanes] __attribute__((aligned(64)));
#pragma GCC ivdep
  for (int k = 0; k < lanes; ++k) {
    lane[k] = element(begin + k);
    nan[k] = isnan(lane[k]) ? (Mask)-1 : (Mask)0;
  }
  for (i64 next = begin + lanes; next < end; next += lanes)
    see_lanes<lanes>(lane, nan, index_min(next, end - lanes), element, beats);  // the last ones may be seen twice
  Mask any = 0;
  for (int k = 0; k < lanes; ++k) any |= nan[k];
#pragma GCC unroll 8
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) lane[k] = beats(lane[k + width], lane[k]) ? lane[k + width] : lane[k];
  best = lane[0];
  return any == 0;
}
// Where the first of elements [begin, end) is that `best`, one of them, does not beat.
template <class T, class Element, class Beats>
ACCEL_INLINE i64 first_of_best(i64 begin, i64 end, T best, Element element, Beats beats) {
  typedef typename MaskOf<sizeof(T)>::type Mask;
  for (constexpr int size = 32; begin + size <= end; begin += size) {
    Mask any = 0;
#pragma GCC ivdep
    for (i64 i = 0; i < size; ++i) any |= beats(best, element(begin + i)) ? (Mask)0 : (Mask)-1;
    if (any != 0) break;
  }
  while (beats(best, element(begin))) ++begin;
  return begin;
}

// Takes elements [begin, end) into the extreme of those before them.
template <class T, class Element, class Beats>
ACCEL_INLINE void see_block(Extreme<T>& extreme, i64 begin, i64 end, bool first, Element element, Beats beats) {
  T best;
  if (!find_best(begin, end, best, element, beats)) {
    for (i64 i = begin; i < end; ++i) extreme.see(element(i), i, first && i == begin, beats);
  } else if (!extreme.settled && (first || beats(best, extreme.best))) {
    extreme.best = best;
    extreme.where = first_of_best(begin, end, best, element, beats);
  }
}

#if defined(ACCEL_QUIET_COMPARISONS)
constexpr bool stops_at_nan = false;  // later elements may have events
#else
constexpr bool stops_at_nan = true;  // the NaN had an event
#endif
template <class T>
constexpr bool is_pair = false;
template <class R>
constexpr bool is_pair<complex_of<R>> = true;

// Complex numbers, whose order needs several comparisons, are no lanes of vectors: what may be better is looked at one by one.
template <class T, class Element, class Order>
ACCEL_INLINE Extreme<T> argreduce_pairs(i64 begin, i64 end, Element element, Order order) {
  constexpr i64 size = 32;
  Extreme<T> extreme = {};
  if (begin < end) extreme.see(element(begin), begin, true, order);
  for (i64 i = begin + 1; i < end && !(stops_at_nan && extreme.settled);) {
    if (i + size <= end && all_stay<size>(i, extreme.best, element, order)) {
      i += size;
      continue;
    }
    for (const i64 stop = index_min(i + size, end); i < stop; ++i) {
      const T value = element(i);
      if (!order.stays(value, extreme.best)) [[unlikely]]
        extreme.see(value, i, false, order);
    }
  }
  return extreme;
}
// For simple elements: the best value of each block, then its position if it is better than that of earlier blocks. A vector
// test skips each block without a better value.
template <class T, class Element, class Order>
ACCEL_INLINE Extreme<T> argreduce_lanes(i64 begin, i64 end, Element element, Order order) {
  constexpr i64 size = 512;
  if (end - begin < extreme_lanes<T>) return argreduce_serial<T>(begin, end, element, order);
  Extreme<T> extreme = {};
  see_block(extreme, begin, index_min(begin + size, end), true, element, order);
  for (i64 i = begin + size; i < end && !(stops_at_nan && extreme.settled); i += size) {
    if (i + size > end) {
      see_block(extreme, index_min(i, end - extreme_lanes<T>), end, false, element, order);
    } else if (!all_stay<size>(i, extreme.best, element, order)) {
      see_block(extreme, i, i + size, false, element, order);
    }
  }
  return extreme;
}
template <class T, class Element, class Order>
ACCEL_INLINE Extreme<T> argreduce(i64 begin, i64 end, Element element, Order order);
// A tile of elements at a time.
template <class T, class Element, class Order>
ACCEL_INLINE Extreme<T> argreduce_periodic(i64 begin, i64 end, Element element, Order order) {
  constexpr i64 size = 512;
  T tile[size] __attribute__((aligned(64)));
  const auto of_tile = [&](i64 k) __attribute__((always_inline)) { return tile[k]; };
  Extreme<T> extreme = {};
  for (i64 i = begin; i < end && !(stops_at_nan && extreme.settled); i += size) {
    const i64 n = index_min(size, end - i);
    for_each_element(i, n, element, [&](i64 k, T value) __attribute__((always_inline)) { tile[k] = value; });
    if (i > begin && n == size && all_stay<size>(0, extreme.best, of_tile, order)) continue;
    const Extreme<T> best = argreduce<T>(0, n, of_tile, order);
    extreme.see(best.best, i + best.where, i == begin, order);
  }
  return extreme;
}
template <class T, class Element, class Order>
ACCEL_INLINE Extreme<T> argreduce(i64 begin, i64 end, Element element, Order order) {
  if constexpr (is_periodic<Element>)
    return argreduce_periodic<T>(begin, end, element, order);
  else if constexpr (is_pair<T>)
    return argreduce_pairs<T>(begin, end, element, order);
  else
    return argreduce_lanes<T>(begin, end, element, order);
}

// argmin or argmax of bools: index of the first element with the winning value. may_stop: elements have no floating-point
// events, so that the search may end at the first hit.
template <bool may_stop, class Element, class Beats>
ACCEL_INLINE Extreme<bool8> argreduce_bools(i64 begin, i64 end, Element element, Beats beats) {
  const bool8 winner = beats(true, false);
  Extreme<bool8> extreme = {!winner, begin, false};
  const auto wins = [&](i64 i) __attribute__((always_inline)) { return element(i) == winner; };
  for (i64 block = begin; block < end; block += 64) {
    const u64 winners = counted(block, index_min(end - block, 64), wins);
    if (winners == 0 || extreme.best == winner) continue;
    extreme.best = winner, extreme.where = block + __builtin_ctzll(winners);
    if (may_stop) break;
  }
  return extreme;
}
