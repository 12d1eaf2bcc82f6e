// Elements whose index is divided by a number that is known at run time: at(q, r) computes element i where base + i is
// q * period + r, and r lies within the period.
template <class At>
struct Periodic {
  i64 base, period;
  At at;

  __attribute__((always_inline)) auto operator()(i64 i) const {
    const i64 q = index_floordiv(base + i, period);
    return at(q, base + i - q * period);
  }
  // put(k, element begin + k) for each k of [0, n): divides once.
  template <class Put>
  __attribute__((always_inline)) void each(i64 begin, i64 n, Put put) const {
    if (n <= 0) return;
    i64 q = index_floordiv(base + begin, period), r = base + begin - q * period;
    for (i64 k = 0, next; k < n; k = next, r = 0, ++q) {
      next = index_min(n, k + period - r);
#pragma GCC ivdep
      for (i64 j = k; j < next; ++j) put(j, at(q, r + j - k));
    }
  }
};
template <class Element>
constexpr bool is_periodic = false;
template <class At>
constexpr bool is_periodic<Periodic<At>> = true;
template <class At>
ACCEL_INLINE Periodic<At> periodic(i64 base, i64 period, At at) {
  return {base, period, at};
}
// put(k, element(begin + k)) for each k of [0, n).
template <class Element, class Put>
ACCEL_INLINE void for_each_element(i64 begin, i64 n, Element element, Put put) {
  if constexpr (is_periodic<Element>) {
    element.each(begin, n, put);
  } else {
#pragma GCC ivdep
    for (i64 k = 0; k < n; ++k) put(k, element(begin + k));
  }
}

// Elements of a mask, 64 at a time.

// Bit k is flags[k], which is 0 or 1.
ACCEL_INLINE u64 true_bits(const u8* flags) {
#if defined(__AVX512BW__)
  typedef char Bytes __attribute__((vector_size(64)));
  return __builtin_ia32_cvtb2mask512((Bytes)(*(const Bytes*)flags != 0));
#elif defined(__AVX2__)
  typedef char Bytes __attribute__((vector_size(32)));
  const Bytes* const halves = (const Bytes*)flags;
  const u64 low = (unsigned)__builtin_ia32_pmovmskb256((Bytes)(halves[0] != 0));
  return low | (u64)(unsigned)__builtin_ia32_pmovmskb256((Bytes)(halves[1] != 0)) << 32;
#else
  u64 bits = 0;
  for (int k = 0; k < 8; ++k) {
    u64 eight;
    __builtin_memcpy(&eight, flags + 8 * k, 8);
    bits |= (eight * 0x0102040810204080 >> 56) << 8 * k;
  }
  return bits;
#endif
}

// Which of the elements [begin, begin + n) count, n <= 64: bit k is element begin + k.
template <class Counts>
ACCEL_INLINE u64 counted(i64 begin, i64 n, Counts counts) {
  u8 flags[64] __attribute__((aligned(64)));
  if (n < 64) __builtin_memset(flags, 0, sizeof flags);
  for_each_element(begin, n, counts, [&](i64 k, auto value) __attribute__((always_inline)) { flags[k] = value; });
  return true_bits(flags);
}
// How many of the elements [begin, end) count.
template <class Counts>
ACCEL_INLINE i64 count_counted(i64 begin, i64 end, Counts counts) {
  i64 number = 0;
  for (; begin + 64 <= end; begin += 64) number += __builtin_popcountll(counted(begin, 64, counts));
  for (; begin < end; ++begin) number += counts(begin) != 0;
  return number;
}
// Stores base + k for each k of [0, n) that counts at out[next] and on. Returns the position after them. Elements of the list
// (`count` in all) from that position on may have any value.
template <class Counts>
ACCEL_INLINE i64 list_counted(char* memory, i64 next, i64 count, i64 base, i64 n, Counts counts) {
  constexpr i64 few = 16, at_once = 8;
  i64* const out = (i64*)memory;
  if (n < few) {
    i64 k = 0;
    if (next + n < count)
      for (; k < n; ++k) {
        out[next] = base + k;
        next += counts(k) != 0;
      }
    for (; k < n; ++k)
      if (counts(k)) out[next++] = base + k;
    return next;
  }
  for (i64 begin = 0; begin < n; begin += 64) {
    u64 inside = counted(begin, index_min(n - begin, 64), counts);
    const i64 first = base + begin, end = next + __builtin_popcountll(inside);
    if (inside + 1 == 0) {
      for (i64 k = 0; k < 64; ++k) out[next + k] = first + k;
    } else if (next + 64 <= count) {
      // Whole groups, so that the processor can predict the number of iterations.
      for (i64 at = next; at < end; at += at_once)
        for (i64 k = 0; k < at_once; ++k, inside &= inside - 1) out[at + k] = first + __builtin_ctzll(inside | (u64)1 << 63);
    } else {
      for (i64 at = next; at < end; ++at, inside &= inside - 1) out[at] = first + __builtin_ctzll(inside);
    }
    next = end;
  }
  return next;
}
