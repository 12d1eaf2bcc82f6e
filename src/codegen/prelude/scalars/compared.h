// Numbers that are compared with what a loop of NumPy's gives, and nothing else. An estimate decides where they are not near:
// it is within 2^-21 of the exact value, and the loop (of float32, too) is within 2^-21. Tests are on bits, in which a
// comparison with a NaN is no event.
ACCEL_INLINE i64 ordered_bits(f64 number) { return __builtin_bit_cast(i64, number); }
// Of a value, from which the number is 2^-19 of it away; numbers of another sign and NaNs are far from all of them. What
// compares to a NaN needs no value.
ACCEL_INLINE bool is_apart(f64 number, f64 value) {
  const u64 margin = (u64)1 << 33;
  return (u64)ordered_bits(number) - (u64)ordered_bits(value) + margin > 2 * margin;
}
// Whether least <= x <= most, for positive bounds.
ACCEL_INLINE bool is_within(f64 x, f64 least, f64 most) {
  return (u64)ordered_bits(x) - (u64)ordered_bits(least) <= (u64)ordered_bits(most) - (u64)ordered_bits(least);
}

// 2 to the power of x times `scale`, which lies within 1020 of 0: the nearest integer by the exponent, the rest by the first
// terms of its series.
ACCEL_INLINE f64 estimate_scaled(f64 x, f64 scale) {
  const f64 shifted = contracted(x, scale, 0x1.8p52), rest = contracted(x, scale, 0x1.8p52 - shifted), square = rest * rest;
  const f64 low = contracted(0x1.62e42fefa39efp-1, rest, 1),
            middle = contracted(0x1.c6b08d704a0cp-5, rest, 0x1.ebfbdff82c58fp-3),
            high = contracted(0x1.5d87fe78a6731p-10, rest, 0x1.3b2ab6fba4e77p-7);
  const f64 power = contracted(contracted(contracted(0x1.430912f86c787p-13, square, high), square, middle), square, low);
  return __builtin_bit_cast(f64, __builtin_bit_cast(u64, power) + (__builtin_bit_cast(u64, shifted) << 52));
}
// The natural logarithm of a positive normal number: that of the part between the roots of 1/2 and 2 by the first terms of the
// series in (x - 1) / (x + 1).
ACCEL_INLINE f64 estimate_ln(f64 x) {
  const i64 low = 0x3fe6a09e667f3bcc, bits = ordered_bits(x), exponent = (bits - low) >> 52;
  const f64 part = __builtin_bit_cast(f64, bits - (i64)((u64)exponent << 52)), s = (part - 1) / (part + 1), square = s * s;
  const f64 series = contracted(contracted(contracted(2.0 / 7, square, 2.0 / 5), square, 2.0 / 3), square, 2.0);
  return contracted((f64)exponent, 0x1.62e42fefa39efp-1, s * series);
}

// What is estimated: `at`, and for which arguments, whose results are normal numbers without events: `has` for a dtype.
template <class T>
constexpr f64 largest_exponent = sizeof(T) == 4 ? 120 : 1000;  // of 2
template <class T>
ACCEL_INLINE bool is_normal(f64 x) {
  return sizeof(T) == 4 ? is_within(x, 0x1p-120, 0x1p120) : is_within(x, 0x1p-1000, 0x1p1000);
}
struct Exp2 {
  template <class T>
  ACCEL_INLINE bool has(f64 x) {
    return ordered_bits(fabs(x)) <= ordered_bits(largest_exponent<T>);
  }
  // Products of tiny numbers would be events.
  ACCEL_INLINE f64 scaled(f64 x, f64 scale) {
    return estimate_scaled(ordered_bits(fabs(x)) < ordered_bits(0x1p-100) ? 0.0 : x, scale);
  }
  ACCEL_INLINE f64 at(f64 x) { return scaled(x, 1); }
};
struct Exp {
  template <class T>
  ACCEL_INLINE bool has(f64 x) {
    return ordered_bits(fabs(x)) <= ordered_bits(0.69 * largest_exponent<T>);
  }
  ACCEL_INLINE f64 at(f64 x) { return Exp2::scaled(x, 0x1.71547652b82fep+0); }
};
struct Log {
  template <class T>
  ACCEL_INLINE bool has(f64 x) {
    return is_normal<T>(x);
  }
  ACCEL_INLINE f64 at(f64 x) { return estimate_ln(x); }
};
struct Log2 : Log {
  ACCEL_INLINE f64 at(f64 x) { return estimate_ln(x) * 0x1.71547652b82fep+0; }
};
struct Log10 : Log {
  ACCEL_INLINE f64 at(f64 x) { return estimate_ln(x) * 0x1.bcb7b1526e50ep-2; }
};

// Sets `result` to the estimate for an argument, if it decides.
template <class T, class Function, class... Numbers>
ACCEL_INLINE bool decides(const char* argument, char* result, Numbers... numbers) {
  T x;
  __builtin_memcpy(&x, argument, sizeof(T));
  if (!Function::template has<T>(x)) return false;
  const f64 value = Function::at(held(x));
  const T rounded = (T)value;
  __builtin_memcpy(result, &rounded, sizeof(T));
  return (is_apart(numbers, value) && ...);
}
