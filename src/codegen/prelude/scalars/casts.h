// Unsigned integers of a size in bytes.
template <int size>
struct BitsOf;
template <>
struct BitsOf<1> {
  typedef u8 type;
};
template <>
struct BitsOf<2> {
  typedef u16 type;
};
template <>
struct BitsOf<4> {
  typedef u32 type;
};
template <>
struct BitsOf<8> {
  typedef u64 type;
};
// 1 or 0, made by its bits with a zero that is opaque to the compiler. From a selection g++ makes jumps in scalar code, and it
// does not vectorise one whose mask has lanes of another size than the number.
template <class To>
ACCEL_INLINE To number_of_mask(bool8 mask) {
  typedef typename BitsOf<sizeof(To)>::type Bits;
  return __builtin_bit_cast(To, (Bits)((-(Bits)mask ^ (Bits)unknown_zero) & __builtin_bit_cast(Bits, (To)1)));
}
// A bool of memory, or of narrow numbers: its byte becomes the number. A mask would be widened step by step.
ACCEL_INLINE u8 byte_of(bool8 mask) { return made_whole((u8)mask); }
// Of an integer that it knows, or knows to be 0 or 1, clang would work out what becomes of its float, without the events.
template <class T>
ACCEL_INLINE T unforeseen_integer(T value) {
#if defined(__clang__)
  return value | (T)unknown_zero;
#else
  return value;
#endif
}
template <class To, class From>
struct Cast {
  ACCEL_INLINE To of(From a) {
    if constexpr (__is_same(To, bool))
      return a != 0;
    else if constexpr (__is_same(From, bool) && is_float<To>)
      return number_of_mask<To>(a);
    else if constexpr (is_float<From> && !is_float<To>)
      return made_whole(float_to_integer<To>(a));
    else if constexpr (is_float<To> && !is_float<From>)
      return (To)unforeseen_integer(a);
    else
      return (To)a;
  }
};
template <class To, class From>
ACCEL_INLINE To cast(From a) {
  return Cast<To, From>::of(a);
}

// a where `in`, else 1. Made by its bits, with a zero that is opaque to the compiler (`hidden`; g++ 13 sees through the bits
// alone): from a recognised selection it may compute with both sides, which raises the events of elements that do not exist.
template <class T>
struct Lane {
  typedef typename BitsOf<sizeof(T)>::type Bits;
  ACCEL_INLINE T of(T a, bool8 in, u64 hidden, T neutral = cast<T>(true)) {
    const Bits mask = (Bits)(-(Bits)in ^ (Bits)hidden);
    return __builtin_bit_cast(T,
                              (Bits)((__builtin_bit_cast(Bits, a) & mask) | (__builtin_bit_cast(Bits, neutral) & (Bits)~mask)));
  }
};
template <class T>
ACCEL_INLINE T lane(T a, bool8 in, u64 hidden) {
  return Lane<T>::of(a, in, hidden);
}

template <class T>
ACCEL_INLINE T reciprocal(T a) {
  if constexpr (is_float<T>)
    return 1 / a;
  else
    return float_to_integer<T>(1.0 / (f64)a);
}
