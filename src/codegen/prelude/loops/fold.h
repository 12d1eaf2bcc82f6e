// Reductions whose order does not matter.
template <class T, class Element, class Combine>
ACCEL_INLINE T fold_serial(T total, i64 begin, i64 end, Element element, Combine combine) {
  for (i64 i = begin; i < end; ++i) total = combine(total, element(i));
  return total;
}
// g++ makes no vectors of bools that are combined.
template <class T>
struct LaneOf {
  typedef T type;
};
template <>
struct LaneOf<bool8> {
  typedef u8 type;
};
// Of at least `lanes` elements: as many accumulators side by side, combined in pairs at the end. The elements
// after the last whole group go into the first accumulators, so that no operation waits for the one before it.
template <int lanes, class T, class Element, class Combine>
ACCEL_INLINE T fold_lanes(T total, i64 begin, i64 end, Element element, Combine combine) {
  typedef typename LaneOf<T>::type Lane;
  Lane lane[lanes] __attribute__((aligned(64))), last[lanes] __attribute__((aligned(64)));
#pragma GCC ivdep
  for (int k = 0; k < lanes; ++k) lane[k] = element(begin + k);
  i64 i = begin + lanes;
  for (; i <= end - lanes; i += lanes) {
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) lane[k] = combine(lane[k], element(i + k));
  }
  __builtin_memcpy(last, lane, sizeof last);
#pragma GCC ivdep
  for (i64 k = 0; k < end - i; ++k) last[k] = combine(last[k], element(i + k));
#pragma GCC unroll 8
  for (int width = lanes / 2; width > 0; width /= 2) {
#pragma GCC ivdep
    for (int k = 0; k < width; ++k) last[k] = combine(last[k], last[k + width]);
  }
  return combine(total, last[0]);
}
// For simple elements. Short runs of narrow ones take fewer lanes.
template <class T, class Element, class Combine>
ACCEL_INLINE T fold_simple(T total, i64 begin, i64 end, Element element, Combine combine) {
  constexpr int many = 256 / sizeof(T), few = 32;
  if (end - begin >= 2 * many) return fold_lanes<many>(total, begin, end, element, combine);
  if (many > few && end - begin >= few) return fold_lanes<few>(total, begin, end, element, combine);
  for (; begin < end; ++begin) total = combine(total, element(begin));
  return total;
}
// A tile of elements at a time.
template <class T, class Element, class Combine>
ACCEL_INLINE T fold_periodic(T total, i64 begin, i64 end, Element element, Combine combine) {
  constexpr i64 size = 512;
  T tile[size] __attribute__((aligned(64)));
  const auto of_tile = [&](i64 k) __attribute__((always_inline)) { return tile[k]; };
  for (; begin < end; begin += size) {
    const i64 n = index_min(size, end - begin);
    for_each_element(begin, n, element, [&](i64 k, T value) __attribute__((always_inline)) { tile[k] = value; });
    total = fold_simple<T>(total, 0, n, of_tile, combine);
  }
  return total;
}
template <class T, class Element, class Combine>
ACCEL_INLINE T fold(T total, i64 begin, i64 end, Element element, Combine combine) {
  if constexpr (is_periodic<Element>)
    return fold_periodic<T>(total, begin, end, element, combine);
  else
    return fold_simple<T>(total, begin, end, element, combine);
}
// Whether no further element can change a fold of bools.
template <class Combine>
ACCEL_INLINE bool is_settled(bool8 total, Combine combine) {
  return combine(total, true) == total && combine(total, false) == total;
}
// Fold of bools that stops when no further element can change the result, which often is one of the first. Requires elements
// without floating-point events.
template <class Element, class Combine>
ACCEL_INLINE bool8 fold_until_settled(bool8 total, i64 begin, i64 end, Element element, Combine combine) {
  for (i64 i = begin, size = 16; i < end && !is_settled(total, combine); i += size, size = index_min(2 * size, 2048))
    total = fold<bool8>(total, i, index_min(i + size, end), element, combine);
  return total;
}

// An extreme that is a zero has the sign of one of the zeros: which, is a matter of NumPy's vectors, so where they have both
// signs it is left to NumPy.
template <class T, class Element>
static __attribute__((noinline)) void compare_zeros(Frame* frame, T zero, T first, i64 begin, i64 end, Element element) {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  const Bits other = __builtin_bit_cast(Bits, (T)-zero);
  Bits found = __builtin_bit_cast(Bits, first) == other;
  for (i64 i = begin; i < end; ++i) found |= __builtin_bit_cast(Bits, (T)element(i)) == other;
  if (found != 0) report(frame, accel_error);
}
template <class T, class Element>
ACCEL_INLINE T of_equal_zeros(Frame* frame, T extreme, T first, i64 begin, i64 end, Element element) {
  if (extreme == 0) [[unlikely]]
    compare_zeros(frame, extreme, first, begin, end, element);
  return extreme;
}
