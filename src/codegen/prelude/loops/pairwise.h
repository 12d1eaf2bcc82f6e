// NumPy's pairwise summation: a run is split at n/2 rounded down to a multiple of 8 until at most 128 reals are left, which
// are summed in 8 accumulators. Real and imaginary parts of complex numbers count as reals of their own.
#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif
// `count` reals in registers. Of one vector that is wider than a register g++ makes memory.
template <class R, int count, bool fits = (count * sizeof(R) <= register_bytes)>
struct Accumulators {
  typedef R Vector __attribute__((vector_size(count * sizeof(R))));
  Vector values;

  ACCEL_INLINE Accumulators at(const char* p) {
    Accumulators loaded;
    __builtin_memcpy(&loaded.values, p, sizeof loaded.values);
    return loaded;
  }
  __attribute__((always_inline)) void add(Accumulators other) { values += other.values; }
  __attribute__((always_inline)) R operator[](int i) const { return values[i]; }
};
template <class R, int count>
struct Accumulators<R, count, false> {
  Accumulators<R, count / 2> low, high;

  ACCEL_INLINE Accumulators at(const char* p) {
    return {Accumulators<R, count / 2>::at(p), Accumulators<R, count / 2>::at(p + count / 2 * sizeof(R))};
  }
  __attribute__((always_inline)) void add(Accumulators other) { low.add(other.low), high.add(other.high); }
  __attribute__((always_inline)) R operator[](int i) const { return i < count / 2 ? low[i] : high[i - count / 2]; }
};

template <class R>
struct RealSum {
  typedef R Real;
  typedef R Total;
  static constexpr int parts = 1;

  ACCEL_INLINE Total zero() { return (R)-0.0; }
  ACCEL_INLINE void put(R* at, R value) { at[0] = value; }
  ACCEL_INLINE Total add(Total a, Total b) { return a + b; }
  // The sum of n <= 128 reals at p.
  ACCEL_INLINE Total leaf(const char* p, i64 n) {
    R total = zero();
    i64 i = 0;
    if (n >= 8) {
      Accumulators<R, 8> r = Accumulators<R, 8>::at(p);
      for (i = 8; i < n - n % 8; i += 8) r.add(Accumulators<R, 8>::at(p + i * sizeof(R)));
      total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; ++i) total += real_at(p, i);
    return total;
  }
  ACCEL_INLINE R real_at(const char* p, i64 i) {
    R value;
    __builtin_memcpy(&value, p + i * sizeof(R), sizeof value);
    return value;
  }
};

template <class R>
struct ComplexSum {
  typedef R Real;
  typedef complex_of<R> Total;
  static constexpr int parts = 2;

  ACCEL_INLINE Total zero() { return {(R)-0.0, (R)-0.0}; }
  ACCEL_INLINE void put(R* at, Total value) { at[0] = value.re, at[1] = value.im; }
  ACCEL_INLINE Total add(Total a, Total b) { return {a.re + b.re, a.im + b.im}; }
  ACCEL_INLINE Total leaf(const char* p, i64 n) {
    Total total = zero();
    i64 i = 0;
    if (n >= 8) {
      Accumulators<R, 8> r = Accumulators<R, 8>::at(p);
      for (i = 8; i < n - n % 8; i += 8) r.add(Accumulators<R, 8>::at(p + i * sizeof(R)));
      total = {(r[0] + r[2]) + (r[4] + r[6]), (r[1] + r[3]) + (r[5] + r[7])};
    }
    for (; i < n; i += 2) {
      Total value;
      __builtin_memcpy(&value, p + i * sizeof(R), sizeof value);
      total = add(total, value);
    }
    return total;
  }
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

// Elements of the left subtree of a tree of n elements; elements of the largest leaf.
template <class S>
ACCEL_INLINE i64 left_of(i64 n) {
  const i64 reals = n * S::parts / 2;
  return (reals - reals % 8) / S::parts;
}
template <class S>
constexpr i64 leaf_elements = 128 / S::parts;

// The tree over elements [begin, begin + n). leaf(begin, n) sums a leaf. The walk is iterative so that the leaf's code is
// there once: `waiting` holds, per open node, the size of its right subtree or (when negative) that `left` holds its left sum.
template <class S, class Leaf>
ACCEL_INLINE typename S::Total pairwise_tree(i64 begin, i64 n, Leaf leaf) {
  i64 waiting[64];
  typename S::Total left[64];
  int depth = 0;
  for (;;) {
    while (n > leaf_elements<S>) {
      const i64 half = left_of<S>(n);
      waiting[depth++] = n - half;
      n = half;
    }
    typename S::Total sum = leaf(begin, n);
    begin += n;
    while (depth > 0 && waiting[depth - 1] < 0) sum = S::add(left[--depth], sum);
    if (depth == 0) return sum;
    n = waiting[depth - 1];
    left[depth - 1] = sum;
    waiting[depth - 1] = -1;
  }
}

// The tree over element(begin) ... element(begin + n - 1). Short runs of simple elements need no tile.
template <class S, bool simple, class Element>
ACCEL_INLINE typename S::Total pairwise_computed(i64 begin, i64 n, Element element) {
  if (simple && n * S::parts < 8) {
    typename S::Total total = S::zero();
    for (i64 j = 0; j < n; ++j) total = S::add(total, element(begin + j));
    return total;
  }
  return pairwise_tree<S>(begin, n, [&](i64 first, i64 m) __attribute__((always_inline)) {
    typename S::Real tile[128] __attribute__((aligned(64)));
    for_each_element(first, m, element,
                     [&](i64 j, auto value) __attribute__((always_inline)) { S::put(tile + j * S::parts, value); });
    return S::leaf((const char*)tile, m * S::parts);
  });
}
// The tree over elements that lie side by side in memory, element 0 at p.
template <class S>
ACCEL_INLINE typename S::Total pairwise_contiguous(i64 begin, i64 n, const char* p) {
  return pairwise_tree<S>(begin, n, [&](i64 first, i64 m) __attribute__((always_inline)) {
    return S::leaf(p + first * (i64)(S::parts * sizeof(typename S::Real)), m * S::parts);
  });
}

// The tree over zeros and ones: their number, however it is added up.
template <class S, class Counts>
ACCEL_INLINE typename S::Total pairwise_counted(i64 begin, i64 n, Counts counts) {
  return n > 0 ? (typename S::Total)count_counted(begin, begin + n, counts) : S::zero();
}

// total + the sums of the longest sequences of elements of [0, n) that count, one after the other. tree(begin, n) sums one.
template <class S, class D, class Counts, class Tree>
ACCEL_INLINE D pairwise_masked(D total, i64 n, Counts counts, Tree tree) {
  i64 first = -1;  // of the sequence that is open
  for (i64 begin = 0; begin <= n; begin += 64) {
    const u64 inside = counted(begin, index_min(n - begin, 64), counts);
    u64 edges = inside ^ (inside << 1 | (first >= 0));
    for (; edges != 0; edges &= edges - 1) {
      const i64 at = begin + __builtin_ctzll(edges);
      if (first < 0) {
        first = at;
        continue;
      }
      total = cast<D>(S::add(cast<typename S::Total>(total), tree(first, at - first)));
      first = -1;
    }
  }
  return total;
}

// A run cut into chunks whose sums are added in order. tree(begin, n) sums a chunk; D is the type of the accumulator.
template <class S, class D, class Tree>
ACCEL_INLINE D pairwise_chunks(i64 n, i64 chunk, Tree tree) {
  D total = cast<D>(tree(0, index_min(n, chunk)));
  for (i64 begin = chunk; begin < n; begin += chunk) {
    total = cast<D>(S::add(cast<typename S::Total>(total), tree(begin, index_min(n - begin, chunk))));
  }
  return total;
}
