// argmin and argmax of square roots, decided by the squares. The bits of floats that are not negative are ordered as integers,
// and squares more than 16 of those apart have different roots: the squares differ by 8 units of 2^-52 (float64) or more, so
// the roots differ by 4, and rounding moves each by half a unit. What this leaves open (near ties, negative squares, NaN) the
// roots decide.
template <int size>
struct RootBits;
template <>
struct RootBits<4> {
  typedef i32 type;
  typedef u32 mask;
  static constexpr i32 infinity = 0x7f800000;
};
template <>
struct RootBits<8> {
  typedef i64 type;
  typedef u64 mask;
  static constexpr i64 infinity = 0x7ff0000000000000;
};
constexpr int roots_differ = 16;

template <class T, bool least>
struct RootOrder {
  typedef typename RootBits<sizeof(T)>::type Bits;
  typedef typename RootBits<sizeof(T)>::mask Mask;
  ACCEL_INLINE Bits bits(T square) { return __builtin_bit_cast(Bits, square); }
  // No NaN, and not negative (which -0.0 is taken for).
  ACCEL_INLINE bool is_plain(T square) { return (Mask)bits(square) <= (Mask)RootBits<sizeof(T)>::infinity; }
  // How far `a` is better than `best`, both plain.
  ACCEL_INLINE Bits ahead(T a, T best) { return least ? bits(best) - bits(a) : bits(a) - bits(best); }
};

// Like Extreme, over the roots of the squares it sees. The root of what has been passed over would raise no event.
template <class T, bool least>
struct RootExtreme {
  typedef RootOrder<T, least> Order;
  T best;  // a square
  i64 where;
  bool settled;

  __attribute__((always_inline)) void see(T square, i64 i, bool first, Order) {
    const bool plain = Order::is_plain(square) & !settled;
    const typename Order::Bits ahead = first ? roots_differ + 1 : Order::ahead(square, best);
    if (plain && ahead <= 0) return;
    if (plain && ahead > roots_differ)
      best = square, where = i;
    else
      see_root(square, i, first);
  }

  __attribute__((noinline)) void see_root(T square, i64 i, bool first) {
    const T root = opaque(sqrt(square));
    const bool nan = isnan(root);
    if (settled || !(first || nan || (least ? root < sqrt(best) : root > sqrt(best)))) return;
    best = square == 0 ? (T)0 : square, where = i, settled = nan;  // not -0.0
  }
};

template <class T, class Mask, bool least>
ACCEL_INLINE void see_lane(T& best, i64& where, T square, i64 i, bool first, Mask& open, RootOrder<T, least>) {
  typedef RootOrder<T, least> Order;
  const typename Order::Bits ahead = first ? roots_differ + 1 : Order::ahead(square, best);
  const bool better = ahead > 0;
  open |= !Order::is_plain(square) | (better & (ahead <= roots_differ)) ? (Mask)-1 : (Mask)0;
  best = better ? square : best;
  where = better ? i : where;
}

template <class T, class Element, bool least>
ACCEL_INLINE RootExtreme<T, least> argreduce_serial(i64 begin, i64 end, Element element, RootOrder<T, least> order) {
  RootExtreme<T, least> extreme = {};
  for (i64 i = begin; i < end; ++i) extreme.see(element(i), i, i == begin, order);
  return extreme;
}

// Blocks that hold nothing better are passed over by one vector test.
template <class T, class Element, bool least>
ACCEL_INLINE RootExtreme<T, least> argreduce(i64 begin, i64 end, Element element, RootOrder<T, least> order) {
  typedef RootOrder<T, least> Order;
  constexpr i64 size = 64;
  RootExtreme<T, least> extreme = {};
  for (i64 block = begin; block < end; block += size) {
    if (block > begin && block + size <= end && !extreme.settled) {
      typename Order::Mask open = 0;
#pragma GCC ivdep
      for (i64 i = 0; i < size; ++i) {
        const T square = element(block + i);
        open |= !Order::is_plain(square) | (Order::ahead(square, extreme.best) > 0) ? (typename Order::Mask) - 1 : 0;
      }
      if (open == 0) continue;
    }
    for (i64 i = block; i < index_min(block + size, end); ++i) extreme.see(element(i), i, i == begin, order);
  }
  return extreme;
}
