// Division that rounds down, as NumPy and Python have it.

template <class T>
ACCEL_INLINE bool integer_division_fails(T a, T b, bool overflow_counts) {
  if (__builtin_expect(b == 0, 0)) return raise_divide(), true;
  if constexpr (is_signed<T>) {
    if (__builtin_expect(b == (T)-1 && a == (T)((u64)1 << (sizeof(T) * 8 - 1)), 0)) {
      if (overflow_counts) raise_overflow();
      return true;
    }
  }
  return false;
}

// Signed division by a power of two that is a compile-time constant: a shift or a mask rounds down.
template <class T>
ACCEL_INLINE bool is_known_power_of_two(T b) {
  return is_signed<T> && __builtin_constant_p(b) && b > 0 && (b & (b - 1)) == 0;
}

// Signed division by a positive compile-time constant: for a < 0 the quotient is ~(~a / b), without a test of the remainder.
template <class T>
ACCEL_INLINE bool is_known_positive(T b) {
  return is_signed<T> && __builtin_constant_p(b) && b > 0;
}

template <class T>
ACCEL_INLINE T integer_floor_divide(T a, T b) {
  if (is_known_power_of_two(b)) return (T)(a >> __builtin_ctzll((u64)b));
  if (is_known_positive(b)) {
    const T sign = a < 0 ? (T)-1 : (T)0;
    if constexpr (sizeof(T) == 8)
      return (T)((u64)(a ^ sign) / (u64)b) ^ sign;
    else
      return (T)((a ^ sign) / b) ^ sign;
  }
  if (integer_division_fails(a, b, true)) return b == 0 ? (T)0 : a;
  const T q = (T)(a / b);
  if constexpr (is_signed<T>)
    return (T)(q - (T)(((T)(q * b) != a) & ((a ^ b) < 0)));  // no branch: whether there is a rest is hard to foresee
  else
    return q;
}
template <class T>
ACCEL_INLINE T integer_fmod(T a, T b) {
  return integer_division_fails(a, b, false) ? (T)0 : (T)(a % b);
}
template <class T>
ACCEL_INLINE T integer_remainder(T a, T b) {
  if (is_known_power_of_two(b)) return (T)(a & (b - 1));
  if (is_known_positive(b)) return (T)(a - (T)(integer_floor_divide(a, b) * b));
  const T r = integer_fmod(a, b);
  if constexpr (is_signed<T>)
    return (T)(r + (b & (T) - (T)((r != 0) & ((r ^ b) < 0))));
  else
    return r;
}

template <class T>
struct FloatDivision {
  T quotient, remainder;
};
// Requires b != 0 (NaN is allowed).
template <class T>
ACCEL_INLINE FloatDivision<T> float_divmod(T a, T b) {
  T mod = fmod(a, b);
  T quotient = (a - mod) / b;
  if (mod != 0) {
    if (__builtin_isless(b, (T)0) != __builtin_isless(mod, (T)0)) mod += b, quotient -= 1;
  } else {
    mod = copysign((T)0, b);
  }
  if (quotient == 0) return {copysign((T)0, held(a) / b), mod};
  T down = floor(quotient);
  if (__builtin_isgreater(quotient - down, (T)0.5)) down += 1;
  return {down, mod};
}

template <class T>
ACCEL_INLINE T floor_divide(T a, T b) {
  if constexpr (is_float<T>)
    return b == 0 ? held(a) / b : float_divmod(a, b).quotient;
  else
    return integer_floor_divide(a, b);
}
template <class T>
ACCEL_INLINE T remainder(T a, T b) {
  if constexpr (is_float<T>)
    return b == 0 ? fmod(a, b) : float_divmod(a, b).remainder;
  else
    return integer_remainder(a, b);
}
template <class T>
ACCEL_INLINE T fmod(T a, T b) {
  return integer_fmod(a, b);
}

template <class T>
ACCEL_INLINE u64 magnitude(T a) {
  return a < 0 ? -(u64)(i64)a : (u64)a;
}
static inline u64 common_divisor(u64 a, u64 b) {
  while (a != 0) {
    const u64 rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}
template <class T>
ACCEL_INLINE T gcd(T a, T b) {
  return (T)common_divisor(magnitude(a), magnitude(b));
}
template <class T>
ACCEL_INLINE T lcm(T a, T b) {
  const u64 divisor = common_divisor(magnitude(a), magnitude(b));
  return divisor == 0 ? (T)0 : (T)(magnitude(a) / divisor * magnitude(b));
}
