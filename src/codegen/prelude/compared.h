// Numbers that are compared with what a loop of NumPy's gives, and nothing else. The C library's function and the loop are both
// within 2^-40 of the exact value, by far, so the former decides where the numbers are not that near.
ACCEL_INLINE bool is_apart(f64 number, f64 value) {
  const f64 margin = 0x1p-38 * fabs(value);
  return __builtin_isgreater(number, value + margin) || __builtin_isless(number, value - margin);
}
ACCEL_INLINE bool is_between(f64 least, f64 number, f64 most) {
  return __builtin_isgreaterequal(number, least) & __builtin_islessequal(number, most);
}
// Sets `result` to the library's value for an argument that gives no events, if it decides.
template <f64 (*function)(f64), class... Numbers>
ACCEL_INLINE bool decides(f64 least, f64 most, const char* argument, char* result, Numbers... numbers) {
  const f64 x = load_f64(argument);
  if (!is_between(least, x, most)) return false;
  const f64 value = function(x);
  store_f64(result, value);
  return (is_apart(numbers, value) && ...);
}
