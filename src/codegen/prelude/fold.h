// Reductions whose order does not matter.
template <class T, class Element, class Combine>
ACCEL_INLINE T fold_serial(T total, i64 begin, i64 end, Element element, Combine combine) {
  for (i64 i = begin; i < end; ++i) total = combine(total, element(i));
  return total;
}
// For simple elements: `lanes` accumulators side by side, combined at the end.
template <class T, class Element, class Combine>
ACCEL_INLINE T fold(T total, i64 begin, i64 end, Element element, Combine combine) {
  constexpr int lanes = 256 / sizeof(T);
  i64 i = begin;
  if (end - begin >= 2 * lanes) {
    T lane[lanes] __attribute__((aligned(64)));
#pragma GCC ivdep
    for (int k = 0; k < lanes; ++k) lane[k] = element(begin + k);
    for (i = begin + lanes; i <= end - lanes; i += lanes) {
#pragma GCC ivdep
      for (int k = 0; k < lanes; ++k) lane[k] = combine(lane[k], element(i + k));
    }
    for (int k = 0; k < lanes; ++k) total = combine(total, lane[k]);
  }
  for (; i < end; ++i) total = combine(total, element(i));
  return total;
}
