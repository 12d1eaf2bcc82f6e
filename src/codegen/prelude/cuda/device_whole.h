// Floats that become integers. Where the value lies outside, the bits are those that NumPy's loops have on x86-64: the least
// integer of 32 or 64 bits, of which narrower integers have the low bits. The device by itself saturates.
template <class T>
ACCEL_INLINE T made_whole(T value) {
  return value;
}
template <class From>
ACCEL_INLINE i32 to_i32(From a) {
  return fabs(a) < (From)0x1p31 ? (i32)a : (i32)0x80000000u;
}
template <class From>
ACCEL_INLINE i64 to_i64(From a) {
  return fabs(a) < (From)0x1p63 ? (i64)a : (i64)0x8000000000000000u;
}
template <class To, class From>
ACCEL_INLINE To float_to_integer(From a) {
  if constexpr (is_signed<To> && sizeof(To) == 8)
    return to_i64(a);
  else if constexpr (is_signed<To> || sizeof(To) < 4)
    return (To)to_i32(a);
  else if constexpr (sizeof(To) == 4)
    return a >= (From)0x1p31 ? (u32)to_i32(a - (From)0x1p31) ^ 0x80000000u : (u32)to_i32(a);
  else
    return a >= (From)0x1p63 ? (u64)to_i64(a - (From)0x1p63) ^ (u64)1 << 63 : (u64)to_i64(a);
}
