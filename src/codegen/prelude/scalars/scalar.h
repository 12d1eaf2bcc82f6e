// Scalar functions on bools, integers and real floats, named as the ufunc. T is the loop's type.

template <class T>
ACCEL_INLINE T add(T a, T b) {
  return (T)(a + b);
}
ACCEL_INLINE bool8 add(bool8 a, bool8 b) { return a | b; }
template <class T>
ACCEL_INLINE T subtract(T a, T b) {
  return (T)(a - b);
}
template <class T>
ACCEL_INLINE T multiply(T a, T b) {
  if constexpr (is_float<T>)
    return rounded(a * b);
  else
    return (T)((u64)a * (u64)b);
}
ACCEL_INLINE bool8 multiply(bool8 a, bool8 b) { return a & b; }
template <class T>
ACCEL_INLINE bool8 add_overflows(T a, T b) {
  T wrapped;
  return __builtin_add_overflow(a, b, &wrapped);
}
template <class T>
ACCEL_INLINE bool8 subtract_overflows(T a, T b) {
  T wrapped;
  return __builtin_sub_overflow(a, b, &wrapped);
}
template <class T>
ACCEL_INLINE bool8 multiply_overflows(T a, T b) {
  T wrapped;
  return __builtin_mul_overflow(a, b, &wrapped);
}
ACCEL_INLINE bool8 overflow_event(bool8 happens) {
  if (__builtin_expect(happens, 0)) raise_overflow();
  return happens;
}
template <class T>
ACCEL_INLINE T divide(T a, T b) {
  return a / b;
}
template <class T>
ACCEL_INLINE T negative(T a) {
  return (T)-a;
}
// By their bits: compilers take -a * -b and a + -b for a * b and a - b, which have other signs where they are NaN. clang sees
// a negation in bits that it knows.
#if defined(__clang__)
#define ACCEL_SIGN_BIT(bits) ((bits) | unknown_zero)
#else
#define ACCEL_SIGN_BIT(bits) (bits)
#endif
ACCEL_INLINE f32 negative(f32 a) {
  return __builtin_bit_cast(f32, __builtin_bit_cast(u32, a) ^ (u32)ACCEL_SIGN_BIT(0x80000000u));
}
ACCEL_INLINE f64 negative(f64 a) {
  return __builtin_bit_cast(f64, __builtin_bit_cast(u64, a) ^ ACCEL_SIGN_BIT(0x8000000000000000u));
}
template <class T>
ACCEL_INLINE T positive(T a) {
  return a;
}
template <class T>
ACCEL_INLINE T conjugate(T a) {
  return a;
}
template <class T>
ACCEL_INLINE T square(T a) {
  return multiply(a, a);
}

// Floats: magnitudes, signs and rounding. Integers and bools are their own floor.
ACCEL_INLINE f32 fabs(f32 a) { return __builtin_fabsf(a); }
ACCEL_INLINE f64 fabs(f64 a) { return __builtin_fabs(a); }
ACCEL_INLINE f32 sqrt(f32 a) { return __builtin_sqrtf(a); }
ACCEL_INLINE f64 sqrt(f64 a) { return __builtin_sqrt(a); }
ACCEL_INLINE f32 rint(f32 a) { return __builtin_rintf(a); }
ACCEL_INLINE f64 rint(f64 a) { return __builtin_rint(a); }
ACCEL_INLINE f32 copysign(f32 a, f32 b) { return __builtin_copysignf(a, b); }
ACCEL_INLINE f64 copysign(f64 a, f64 b) { return __builtin_copysign(a, b); }
// Of the roundings g++ makes vectors of the one to the nearest alone. What floor takes 1 from is no zero but 1, whose
// difference is the zero that NumPy's has. The comparisons of clang's vectors call NaN invalid, its roundings do not.
#if defined(__clang__) && (defined(__SSE4_1__) || defined(__aarch64__))
#define ACCEL_ROUNDING(name)                                      \
  ACCEL_INLINE f32 name(f32 a) { return __builtin_##name##f(a); } \
  ACCEL_INLINE f64 name(f64 a) { return __builtin_##name(a); }
ACCEL_ROUNDING(floor)
ACCEL_ROUNDING(ceil)
ACCEL_ROUNDING(trunc)
#else
#define ACCEL_ROUNDINGS(T)                                          \
  ACCEL_INLINE T floor(T a) {                                       \
    const T near = rint(a), less = near - 1;                        \
    return __builtin_isgreater(near, a) ? less : near;              \
  }                                                                 \
  ACCEL_INLINE T ceil(T a) { return negative(floor(negative(a))); } \
  ACCEL_INLINE T trunc(T a) { return copysign(floor(fabs(a)), a); }
ACCEL_ROUNDINGS(f32)
ACCEL_ROUNDINGS(f64)
#endif
ACCEL_INLINE f32 fmod(f32 a, f32 b) { return __builtin_fmodf(a, b); }
ACCEL_INLINE f64 fmod(f64 a, f64 b) { return __builtin_fmod(a, b); }
template <class T>
ACCEL_INLINE T floor(T a) {
  return a;
}
template <class T>
ACCEL_INLINE T ceil(T a) {
  return a;
}
template <class T>
ACCEL_INLINE T trunc(T a) {
  return a;
}

// mask ? a : b, of 8 bytes, by their bits: g++ makes no vectors of a choice by bytes of memory between numbers that wide, and
// g++ 12 none of a loop where a comparison of narrow numbers chooses between numbers of both widths.
template <class T>
ACCEL_INLINE T blend(bool8 mask, T a, T b) {
  static_assert(sizeof(T) == 8);
  u64 chosen, other, all = -(u64)mask;
  __builtin_memcpy(&chosen, &a, 8);
  __builtin_memcpy(&other, &b, 8);
  chosen = (chosen & all) | (other & ~all);
  __builtin_memcpy(&a, &chosen, 8);
  return a;
}

// a < b and a <= b. The hardware calls NaN invalid where NumPy does not; kernels that ask for it compare integers instead,
// which costs several instructions more. (g++ would remove a selection that replaces NaN before the comparison.)
#if defined(ACCEL_QUIET_COMPARISONS)
// Integers in the order of the floats, of which zeros are equal and NaN means nothing.
ACCEL_INLINE i64 order_of(f64 a) {
  const i64 bits = __builtin_bit_cast(i64, a), sign = bits >> 63;
  return ((bits & 0x7fffffffffffffff) ^ sign) - sign;
}
ACCEL_INLINE i32 order_of(f32 a) {
  const i32 bits = __builtin_bit_cast(i32, a), sign = bits >> 31;
  return ((bits & 0x7fffffff) ^ sign) - sign;
}
template <class T>
ACCEL_INLINE bool8 is_less(T a, T b) {
  if constexpr (is_float<T>)
    return (a == a) & (b == b) & (order_of(a) < order_of(b));
  else
    return a < b;
}
template <class T>
ACCEL_INLINE bool8 is_less_equal(T a, T b) {
  if constexpr (is_float<T>)
    return (a == a) & (b == b) & (order_of(a) <= order_of(b));
  else
    return a <= b;
}
#else
template <class T>
ACCEL_INLINE bool8 is_less(T a, T b) {
  return a < b;
}
template <class T>
ACCEL_INLINE bool8 is_less_equal(T a, T b) {
  return a <= b;
}
#endif

template <class T>
ACCEL_INLINE T absolute(T a) {
  if constexpr (is_float<T>)
    return fabs(a);
  else if constexpr (is_signed<T>)
    return a < 0 ? (T)-a : a;
  else
    return a;
}
// Selections one after the other: g++ turns nested selections into branches, into which it moves the uses of the result.
template <class T>
ACCEL_INLINE T sign(T a) {
  if constexpr (is_float<T>) {
    const T one = copysign((T)1, a), signs = a == 0 ? (T)0 : one;
    return a != a ? a : signs;
  } else {  // in numbers of one size
    const T one = a != 0 ? (T)1 : (T)0;
    return is_signed<T> ? (T)(a >> (sizeof(T) * 8 - 1) | one) : one;
  }
}
// Integers of the size of a float.
template <int size>
struct SignedOf {
  typedef i32 type;
};
template <>
struct SignedOf<8> {
  typedef i64 type;
};
template <class T>
ACCEL_INLINE bool8 signbit(T a) {
  if constexpr (is_float<T>)
    return __builtin_bit_cast(typename SignedOf<sizeof(T)>::type, a) < 0;
  else
    return a < 0;
}
template <class T>
ACCEL_INLINE bool8 isnan(T a) {
  return a != a;
}
// Of a comparison with infinity g++ makes one that calls NaN invalid.
template <class T>
ACCEL_INLINE bool8 isinf(T a) {
  if constexpr (is_float<T>)
    return __builtin_bit_cast(typename SignedOf<sizeof(T)>::type, fabs(a)) ==
           __builtin_bit_cast(typename SignedOf<sizeof(T)>::type, (T)__builtin_inf());
  else
    return false;
}
template <class T>
ACCEL_INLINE bool8 isfinite(T a) {
  if constexpr (is_float<T>)
    return __builtin_bit_cast(typename SignedOf<sizeof(T)>::type, fabs(a)) <
           __builtin_bit_cast(typename SignedOf<sizeof(T)>::type, (T)__builtin_inf());
  else
    return true;
}

// Comparisons. A loop may have one int64 and one uint64 operand.
#define ACCEL_COMPARE(name, op, same)                                              \
  template <class T>                                                               \
  ACCEL_INLINE bool8 name(T a, T b) {                                              \
    return same;                                                                   \
  }                                                                                \
  ACCEL_INLINE bool8 name(u64 a, i64 b) { return b < 0 ? 0 op - 1 : a op(u64) b; } \
  ACCEL_INLINE bool8 name(i64 a, u64 b) { return a < 0 ? -1 op 0 : (u64)a op b; }
ACCEL_COMPARE(equal, ==, a == b)
ACCEL_COMPARE(not_equal, !=, a != b)
ACCEL_COMPARE(less, <, is_less(a, b))
ACCEL_COMPARE(less_equal, <=, is_less_equal(a, b))
ACCEL_COMPARE(greater, >, is_less(b, a))
ACCEL_COMPARE(greater_equal, >=, is_less_equal(b, a))

// Extremes: maximum and minimum give the NaN of the first operand that has one, fmax and fmin drop NaNs. Of two equal floats
// (zeros of either sign) NumPy's vector loops give the second on x86-64 and order -0 before +0 on AArch64.
template <class T>
ACCEL_INLINE T greater_of(T a, T b) {
#if defined(__aarch64__)
  if constexpr (is_float<T>) return is_less(b, a) ? a : a == b ? (__builtin_signbit(a) ? b : a) : b;
#endif
  return is_less(b, a) ? a : b;
}
template <class T>
ACCEL_INLINE T lesser_of(T a, T b) {
#if defined(__aarch64__)
  if constexpr (is_float<T>) return is_less(a, b) ? a : a == b ? (__builtin_signbit(a) ? a : b) : b;
#endif
  return is_less(a, b) ? a : b;
}
// NaN for NaN of either sign; `at_zero` where a is 0.
template <class T>
ACCEL_INLINE T heaviside(T a, T at_zero) {
  return a != a ? (T)__builtin_nan("") : a == (T)0 ? at_zero : is_less((T)0, a) ? (T)1 : (T)0;
}
template <class T>
ACCEL_INLINE T maximum(T a, T b) {
  const T greater = greater_of(a, b);
  return a != a ? a : greater;
}
template <class T>
ACCEL_INLINE T minimum(T a, T b) {
  const T lesser = lesser_of(a, b);
  return a != a ? a : lesser;
}
template <class T>
ACCEL_INLINE T fmax(T a, T b) {
  const T greater = greater_of(a, b);
  return b != b ? a : greater;
}
template <class T>
ACCEL_INLINE T fmin(T a, T b) {
  const T lesser = lesser_of(a, b);
  return b != b ? a : lesser;
}
ACCEL_INLINE bool8 maximum(bool8 a, bool8 b) { return a | b; }
ACCEL_INLINE bool8 minimum(bool8 a, bool8 b) { return a & b; }
ACCEL_INLINE bool8 fmax(bool8 a, bool8 b) { return a | b; }
ACCEL_INLINE bool8 fmin(bool8 a, bool8 b) { return a & b; }
template <class T>
ACCEL_INLINE T clip(T a, T low, T high) {
  const T least = is_less(low, a) ? a : low, raised = a != a ? a : least;
  const T most = is_less(raised, high) ? raised : high;
  return raised != raised ? raised : most;
}

// Logic and bits.
template <class T>
ACCEL_INLINE bool8 logical_and(T a, T b) {
  return (a != 0) & (b != 0);
}
template <class T>
ACCEL_INLINE bool8 logical_or(T a, T b) {
  return (a != 0) | (b != 0);
}
template <class T>
ACCEL_INLINE bool8 logical_xor(T a, T b) {
  return (a != 0) != (b != 0);
}
template <class T>
ACCEL_INLINE bool8 logical_not(T a) {
  return a == 0;
}
template <class T>
ACCEL_INLINE T bitwise_and(T a, T b) {
  return (T)(a & b);
}
template <class T>
ACCEL_INLINE T bitwise_or(T a, T b) {
  return (T)(a | b);
}
template <class T>
ACCEL_INLINE T bitwise_xor(T a, T b) {
  return (T)(a ^ b);
}
template <class T>
ACCEL_INLINE T invert(T a) {
  return (T)~a;
}
ACCEL_INLINE bool8 invert(bool8 a) { return !a; }
// Of narrow numbers in 32 bits: wider shifts make half as many at once. Masks, not selections, which g++ would move later
// operations into.
template <class T>
ACCEL_INLINE T left_shift(T a, T b) {
  if constexpr (sizeof(T) <= 4)
    return (T)((u32)a << ((u32)b & 31) & -(u32)((u32)b < sizeof(T) * 8));
  else
    return (T)((u64)a << ((u64)b & 63) & -(u64)((u64)b < sizeof(T) * 8));
}
template <class T>
ACCEL_INLINE T right_shift(T a, T b) {
  constexpr T most = sizeof(T) * 8 - 1;
  if constexpr (sizeof(T) == 8) {
    return is_signed<T> ? a >> ((u64)b <= most ? b : most) : (T)(a >> (b & 63) & -(u64)(b <= most));
  } else {
    if constexpr (is_signed<T>) {
      const T inside = (T) - (T)((u32)b <= most);
      return (T)(((a >> (b & 31)) & inside) | ((a >> most) & ~inside));
    } else {
      return (T)((T)(a >> b) & (T) - (T)(b <= most));
    }
  }
}
template <class T>
ACCEL_INLINE u8 bitwise_count(T a) {
  return (u8)__builtin_popcountll(a < 0 ? -(u64)a : (u64)a);
}
ACCEL_INLINE u8 bitwise_count(bool8 a) { return a; }
