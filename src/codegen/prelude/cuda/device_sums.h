// NumPy's pairwise summation: a run is split at n/2 rounded down to a multiple of 8 until at most 128 reals are left, which
// are summed in 8 accumulators. Real and imaginary parts of complex numbers count as reals of their own. Threads of a group sum
// leaves in teams: each has one of the accumulators.
template <class R>
struct RealSum {
  typedef R Total;
  static constexpr int parts = 1;

  ACCEL_DEVICE Total zero() { return (R)-0.0; }
  ACCEL_DEVICE Total add(Total a, Total b) { return a + b; }
};
template <class R>
struct ComplexSum {
  typedef complex_of<R> Total;
  static constexpr int parts = 2;

  ACCEL_DEVICE Total zero() { return {(R)-0.0, (R)-0.0}; }
  ACCEL_DEVICE Total add(Total a, Total b) { return {a.re + b.re, a.im + b.im}; }
};
template <class T>
struct SumOf;
template <>
struct SumOf<f32> : RealSum<f32> {};
template <>
struct SumOf<f64> : RealSum<f64> {};
template <>
struct SumOf<c64> : ComplexSum<f32> {};
template <>
struct SumOf<c128> : ComplexSum<f64> {};

template <class S>
constexpr int accumulators = 8 / S::parts;
template <class S>
constexpr i64 leaf_elements = 128 / S::parts;

// Elements of the left subtree of a tree of n elements.
template <class S>
ACCEL_DEVICE i64 left_of(i64 n) {
  return (i64)(((u64)n * S::parts / 2 & ~(u64)7) / S::parts);
}
// Levels, `most` at most, above which no node of a tree of n elements is a leaf.
template <class S>
ACCEL_DEVICE int levels_of(i64 n, int most) {
  int levels = 0;
#pragma unroll 1
  while (levels < most && n > leaf_elements<S>) n = left_of<S>(n), ++levels;
  return levels;
}
// Node `number` of those `levels` below the root of a tree over [begin, begin + n).
template <class S>
ACCEL_DEVICE void take_node(i64& begin, i64& n, int levels, i64 number) {
#pragma unroll 1
  for (int bit = levels - 1; bit >= 0; --bit) {
    const i64 left = left_of<S>(n);
    if ((number >> bit & 1) != 0)
      begin += left, n -= left;
    else
      n = left;
  }
}

// The sum of a leaf, by one thread.
struct LeafAlone {
  template <class S, class Element>
  ACCEL_METHOD typename S::Total sum(i64 begin, i64 n, Element element) const {
    typedef typename S::Total T;
    constexpr int width = accumulators<S>;
    T total = S::zero();
    i64 i = 0;
    if (n >= width) {
      T r[width];
#pragma unroll
      for (int k = 0; k < width; ++k) r[k] = element(begin + k);
      for (i = width; i < n - n % width; i += width) {
#pragma unroll
        for (int k = 0; k < width; ++k) r[k] = S::add(r[k], element(begin + i + k));
      }
#pragma unroll
      for (int half = 1; half < width; half *= 2) {
#pragma unroll
        for (int k = 0; k < width; k += 2 * half) r[k] = S::add(r[k], r[k + half]);
      }
      total = r[0];
    }
    for (; i < n; ++i) total = S::add(total, element(begin + i));
    return total;
  }
};
// The sum of a leaf, by a team of neighbouring threads of a warp: each gets it. `is_simple`: elements are little work, so that
// many are computed side by side.
template <bool is_simple>
struct LeafOfTeam {
  int lane;  // in the warp

  template <class S, class Element>
  ACCEL_METHOD typename S::Total sum(i64 begin, i64 n, Element element) const {
    typedef typename S::Total T;
    constexpr int width = accumulators<S>;
    const unsigned team = ((1u << width) - 1) << (lane & ~(width - 1));
    T total = S::zero();
    i64 i = 0;
    if (n >= width) {
      const int own = lane & (width - 1), count = (int)n / width;
      i = count * width;
      if constexpr (is_simple) {
        constexpr int most = leaf_elements<S> / width;
        T all[most];
#pragma unroll
        for (int k = 0; k < most; ++k)
          if (k < count) all[k] = element(begin + k * width + own);
        total = all[0];
#pragma unroll
        for (int k = 1; k < most; ++k)
          if (k < count) total = S::add(total, all[k]);
      } else {
        total = element(begin + own);
#pragma unroll 2
        for (int k = 1; k < count; ++k) total = S::add(total, element(begin + k * width + own));
      }
#pragma unroll
      for (int half = 1; half < width; half *= 2) total = S::add(total, value_across(total, half, team));
    }
#pragma unroll 1
    for (; i < n; ++i) total = S::add(total, element(begin + i));
    return total;
  }
};

// One or two leaves.
template <class S, class Leaf, class Element>
ACCEL_DEVICE typename S::Total lowest_node(Leaf leaf, i64 begin, i64 n, Element element) {
  const i64 left = n > leaf_elements<S> ? left_of<S>(n) : n;
  typename S::Total sum = S::zero();
#pragma unroll 1
  for (i64 from = 0, to = left;; from = left, to = n) {
    const typename S::Total part = leaf.template sum<S>(begin + from, to - from, element);
    sum = from == 0 ? part : S::add(sum, part);
    if (to == n) return sum;
  }
}

// The tree over elements [begin, begin + n), node after node on the level above the leaves. A sum waits for its right neighbour
// in `near`, or in `far` when it is of more than 8 nodes.
template <class S, class Leaf, class Element>
ACCEL_DEVICE typename S::Total tree_of_leaves(Leaf leaf, i64 begin, i64 n, Element element) {
  typedef typename S::Total T;
  const int levels = levels_of<S>(n, 40);
  T near[3], far[40], sum = S::zero();
#pragma unroll 1
  for (i64 k = 0; k < i64(1) << levels; ++k) {
    i64 first = begin, count = n;
    take_node<S>(first, count, levels, k);
    sum = lowest_node<S>(leaf, first, count, element);
    bool waits = false;
#pragma unroll
    for (int level = 0; level < 3; ++level) {
      if (waits || level >= levels) continue;
      waits = (k >> level & 1) == 0;
      if (waits)
        near[level] = sum;
      else
        sum = S::add(near[level], sum);
    }
#pragma unroll 1
    for (int level = 3; level < levels && !waits; ++level) {
      waits = (k >> level & 1) == 0;
      if (waits)
        far[level] = sum;
      else
        sum = S::add(far[level], sum);
    }
  }
  return sum;
}

// The tree over elements [begin, begin + n), by a group: each of its threads gets the sum.
template <class S, bool is_simple, class G, class Element>
ACCEL_DEVICE typename S::Total pairwise(G group, i64 begin, i64 n, Element element) {
  if constexpr (G::size == 1) {
    return tree_of_leaves<S>(LeafAlone{}, begin, n, element);
  } else {
    constexpr int width = accumulators<S>, teams = G::size / width;
    constexpr int most_levels = teams == 4 ? 2 : teams == 8 ? 3 : teams == 32 ? 5 : 6;
    static_assert(1 << most_levels == teams);
    const int levels = levels_of<S>(n, most_levels), team = group.lane / width;
    typename S::Total sum = S::zero();
    if (team < 1 << levels) {
      take_node<S>(begin, n, levels, team);
      sum = tree_of_leaves<S>(LeafOfTeam<is_simple>{(int)(threadIdx.x % 32)}, begin, n, element);
    }
    __syncwarp();
    return combine_lanes<width>(group, sum, 1 << levels, [](auto a, auto b) { return S::add(a, b); });
  }
}

// The sum of node `part` of `parts`, a power of two, on one level of the tree over [0, n).
template <class S, bool is_simple, class G, class Element>
ACCEL_DEVICE typename S::Total pairwise_node(G group, i64 n, i64 part, i64 parts, Element element) {
  i64 begin = 0;
  int levels = 0;
  while (i64(1) << levels < parts) ++levels;
  take_node<S>(begin, n, levels, part);
  return pairwise<S, is_simple>(group, begin, n, element);
}

// Sums of `count` nodes, a power of two, side by side, combined to that of the tree.
template <class S, class G>
ACCEL_DEVICE typename S::Total pairwise_of_nodes(G group, const typename S::Total* totals, i64 count) {
  typedef typename S::Total T;
  const i64 own = count > G::size ? count / G::size : 1;
  T left[32], sum = S::zero();
  if (group.lane < count) {
    for (i64 k = 0; k < own; ++k) {
      sum = totals[group.lane * own + k];
      int level = 0;
      for (i64 bits = k; (bits & 1) != 0; bits >>= 1, ++level) sum = S::add(left[level], sum);
      left[level] = sum;
    }
  }
  __syncwarp();
  return combine_lanes<1>(group, sum, (int)(count < G::size ? count : G::size), [](T a, T b) { return S::add(a, b); });
}

// A run cut into chunks whose sums are added in order. D is the type of the accumulator.
template <class S, bool is_simple, class D, class G, class Element>
ACCEL_DEVICE D pairwise_chunks(G group, i64 n, i64 chunk, Element element) {
  D total = cast<D>(pairwise<S, is_simple>(group, 0, index_min(n, chunk), element));
  for (i64 begin = chunk; begin < n; begin += chunk)
    total = cast<D>(
        S::add(cast<typename S::Total>(total), pairwise<S, is_simple>(group, begin, index_min(n - begin, chunk), element)));
  return total;
}
template <class S, class D>
ACCEL_DEVICE D sum_of_chunks(const typename S::Total* totals, i64 count) {
  D total = cast<D>(totals[0]);
#pragma unroll 8
  for (i64 k = 1; k < count; ++k) total = cast<D>(S::add(cast<typename S::Total>(total), totals[k]));
  return total;
}

// total + the sums of the longest sequences of elements of [0, n) that count, one after the other, by each thread.
template <class S, class D, class Counts, class Element>
ACCEL_DEVICE D pairwise_masked(D total, i64 n, Counts counts, Element element) {
  for (i64 begin = 0; begin < n; ++begin) {
    if (!counts(begin)) continue;
    i64 end = begin + 1;
    while (end < n && counts(end)) ++end;
    total = cast<D>(S::add(cast<typename S::Total>(total), pairwise<S, false>(Alone{}, begin, end - begin, element)));
    begin = end;
  }
  return total;
}
