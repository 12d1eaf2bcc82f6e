// Writes the int64 indices in [0, n) for which element(index) holds to `out`, one after the other.
template <class Element>
ACCEL_INLINE void true_indices(char* out, i64 n, Element element) {
  for (i64 begin = 0; begin < n; begin += 64) {
    const i64 count = index_min(64, n - begin);
    u8 holds[64] = {};
#pragma GCC ivdep
    for (i64 k = 0; k < count; ++k) holds[k] = element(begin + k);
    u64 bits = 0;
    for (int k = 0; k < 64; k += 8) {
      u64 eight;
      __builtin_memcpy(&eight, holds + k, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      eight = __builtin_bswap64(eight);
#endif
      bits |= (eight * 0x0102040810204080u >> 56) << k;
    }
    for (; bits != 0; bits &= bits - 1, out += 8) store_i64(out, begin + __builtin_ctzll(bits));
  }
}
