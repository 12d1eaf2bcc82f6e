// argmin and argmax: the first of equals wins, and the first NaN wins over everything.
template <class T>
ACCEL_DEVICE bool beats_argmin(T a, T best) {
  return less(a, best);
}
template <class T>
ACCEL_DEVICE bool beats_argmax(T a, T best) {
  return less(best, a);
}
template <class R>
ACCEL_DEVICE bool beats_argmin(complex_of<R> a, complex_of<R> best) {
  return a.re < best.re || (a.re == best.re && a.im < best.im);
}
template <class R>
ACCEL_DEVICE bool beats_argmax(complex_of<R> a, complex_of<R> best) {
  return best.re < a.re || (a.re == best.re && best.im < a.im);
}
template <class T>
struct argmin_order {
  ACCEL_METHOD bool operator()(T a, T best) const { return beats_argmin(a, best); }
};
template <class T>
struct argmax_order {
  ACCEL_METHOD bool operator()(T a, T best) const { return beats_argmax(a, best); }
};

template <class T>
struct Extreme {
  T best;
  i64 where;
  bool settled;  // a NaN was found

  // Elements come in ascending order of their index.
  template <class Beats>
  ACCEL_METHOD void see(T value, i64 i, bool first, Beats beats) {
    const bool nan = isnan(value), better = !settled && (first || nan || beats(value, best));
    best = better ? value : best;
    where = better ? i : where;
    settled = settled || nan;
  }
  // Elements of any index.
  template <class Beats>
  ACCEL_METHOD void see_other(T value, i64 i, Beats beats) {
    const bool nan = isnan(value);
    bool better = nan ? !settled || i < where : !settled && (beats(value, best) || (i < where && !beats(best, value)));
    best = better ? value : best;
    where = better ? i : where;
    settled = settled || nan;
  }
};

// The extreme of elements [begin, end), at least one, by a group: each thread gets it. `side_by_side`: elements to compute at a
// time.
template <class T, int side_by_side, class G, class Element, class Beats>
ACCEL_DEVICE Extreme<T> extreme_of(G group, i64 begin, i64 end, Element element, Beats beats) {
  Extreme<T> extreme = {};
  const i64 own = begin + group.lane;
#pragma unroll side_by_side
  for (i64 i = own < end ? own : begin; i < end; i += G::size) extreme.see(element(i), i, i == own || own >= end, beats);
  if constexpr (G::size > 1) {
    __syncwarp();
    for (int width = 1; width < 32; width *= 2) {
      const T other = value_across(extreme.best, width);
      const i64 at = value_across(extreme.where, width);
      extreme.see_other(other, at, beats);
    }
    if constexpr (G::size > 32) {
      constexpr int warps = G::size / 32;
      __shared__ alignas(16) unsigned char values[warps * sizeof(T)];
      __shared__ i64 places[warps];
      T* const slots = (T*)values;
      group.sync();
      if (group.lane % 32 == 0) slots[group.lane / 32] = extreme.best, places[group.lane / 32] = extreme.where;
      group.sync();
      for (int k = 0; k < warps; ++k) extreme.see_other(slots[k], places[k], beats);
    }
  }
  return extreme;
}

// By eight threads, each of which has every eighth element.
template <class T, int side_by_side, class Element, class Beats>
ACCEL_DEVICE Extreme<T> extreme_of(Group<8> group, i64 begin, i64 end, Element element, Beats beats) {
  Extreme<T> extreme = {};
  const i64 own = begin + group.lane;
#pragma unroll side_by_side
  for (i64 i = own < end ? own : begin; i < end; i += 8) extreme.see(element(i), i, i == own || own >= end, beats);
  __shared__ alignas(16) unsigned char values[8 * items_side_by_side * sizeof(T)];
  __shared__ i64 places[8 * items_side_by_side];
  T* const slots = (T*)values;
  group.sync();
  slots[threadIdx.x] = extreme.best, places[threadIdx.x] = extreme.where;
  group.sync();
  for (int k = threadIdx.x % items_side_by_side; k < 8 * items_side_by_side; k += items_side_by_side)
    extreme.see_other(slots[k], places[k], beats);
  group.sync();
  return extreme;
}

// The extreme of those of `count` parts, at partials[0], partials[step] and so on.
template <class T, class G, class Beats>
ACCEL_DEVICE Extreme<T> joined_extremes(G group, const Extreme<T>* partials, i64 step, i64 count, Beats beats) {
  const auto value = [=](i64 k) { return partials[k * step].best; };
  Extreme<T> extreme = extreme_of<T, 4>(group, 0, count, value, beats);
  extreme.where = partials[extreme.where * step].where;
  return extreme;
}
