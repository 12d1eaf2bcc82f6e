// Numbers that are compared with what a loop of NumPy's gives, and nothing else. The C library's function and the loop are both
// within 2^-40 of the exact value, by far, so the former decides where the numbers are not that near.
// Tests are on bits, in which a comparison with a NaN is no event.
ACCEL_INLINE i64 ordered_bits(f64 number) { return __builtin_bit_cast(i64, number); }
// Of a positive value. What compares to a NaN needs no value.
ACCEL_INLINE bool is_apart(f64 number, f64 value) {
  const f64 margin = 0x1p-38 * value;
  return ordered_bits(number) > ordered_bits(value + margin) || ordered_bits(number) < ordered_bits(value - margin);
}
// Sets `result` to the library's value for an argument of a size that gives no events, if it decides.
template <f64 (*function)(f64), class... Numbers>
ACCEL_INLINE bool decides(f64 most, const char* argument, char* result, Numbers... numbers) {
  const f64 x = load_f64(argument);
  if (ordered_bits(fabs(x)) > ordered_bits(most)) return false;
  const f64 value = function(x);
  store_f64(result, value);
  return (is_apart(numbers, value) && ...);
}
