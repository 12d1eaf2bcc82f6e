// Numbers that are compared with what a loop of NumPy's gives, and nothing else. An estimate decides where they are not near:
// it is within 2^-22 of the exact value, and the loop is by far. Tests are on bits, in which a comparison with a NaN is no
// event.
ACCEL_INLINE i64 ordered_bits(f64 number) { return __builtin_bit_cast(i64, number); }
// Of a positive value, from which the number is 2^-19 of it away; negative numbers and NaNs are far from all of them. What
// compares to a NaN needs no value.
ACCEL_INLINE bool is_apart(f64 number, f64 value) {
  const u64 margin = (u64)1 << 33;
  return (u64)ordered_bits(number) - (u64)ordered_bits(value) + margin > 2 * margin;
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
ACCEL_INLINE f64 estimate_exp2(f64 x) { return estimate_scaled(x, 1); }
ACCEL_INLINE f64 estimate_exp(f64 x) { return estimate_scaled(x, 0x1.71547652b82fep+0); }

// Sets `result` to the estimate for an argument of a size that gives no events, if it decides.
template <f64 (*estimate)(f64), class... Numbers>
ACCEL_INLINE bool decides(f64 most, const char* argument, char* result, Numbers... numbers) {
  const f64 x = load_f64(argument);
  const i64 size = ordered_bits(fabs(x));
  if (size > ordered_bits(most)) return false;
  const f64 value = estimate(size < ordered_bits(0x1p-100) ? 0.0 : x);  // products of tiny numbers would be events
  store_f64(result, value);
  return (is_apart(numbers, value) && ...);
}
