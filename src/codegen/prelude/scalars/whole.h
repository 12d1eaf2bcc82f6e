// An integer that a float became. g++ makes a truncation, without the event and without a bound, of the float that it becomes
// again. It does not see through this.
template <class T>
ACCEL_INLINE T made_whole(T value) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(value);
#elif defined(__GNUC__) && !defined(__clang__)
  __asm__("" : "+r"(value));
  return value;
#else
  return value;
#endif
}

// One conversion, of a number that is chosen before it: that of the other one would be an event.
template <class To, class From>
ACCEL_INLINE To float_to_unsigned(From a) {
  typedef typename SignedOf<sizeof(To)>::type Signed;
  constexpr From half = sizeof(To) == 4 ? (From)0x1p31 : (From)0x1p63;
  const bool8 upper = a >= half;
  const From low = upper ? a - half : a;
  return (To)(Signed)low ^ (To)upper << (sizeof(To) * 8 - 1);
}
// Casts. A float out of the integer's range gives what x86-64's baseline instructions give (and the invalid event); wider
// instruction sets convert to unsigned integers otherwise, hence the detour over signed ones.
template <class To, class From>
ACCEL_INLINE To float_to_integer(From a) {
#if defined(__x86_64__)
  if constexpr (sizeof(To) < 4)
    return (To)(i32)a;
  else if constexpr (is_signed<To>)
    return (To)a;
  else  // out of range NumPy's vectors differ from its numbers: both events and NumPy decide
    return float_to_unsigned<To>(a);
#else
  // NumPy's vectors and numbers differ: what is out of range has the event, and then NumPy decides.
  if constexpr (sizeof(To) >= 4)
    return (To)a;
  else if constexpr (is_signed<To>)
    return (To)(i32)a;
  else
    return (To)(u32)a;
#endif
}
