// Squares decide how moduli compare with a bound: outside of these limits rounding cannot change the result. Between them the
// modulus itself is needed. Parts that are far from 1 are replaced by others that are on the same side of the bound: no product
// overflows or underflows.
template <class R>
struct SquareLimits {
  R below, above;
};
template <class R>
constexpr R large_part = sizeof(R) == 4 ? (R)0x1p60 : (R)0x1p500;
template <class R>
ACCEL_INLINE SquareLimits<R> square_limits(R bound) {
  constexpr R least = 0x1p20 / large_part<R>, most = large_part<R> / 2;
  const bool8 plain = is_less_equal(least, bound) & is_less_equal(bound, most);
  const R number = opaque(plain ? bound : (R)1), square = number * number;
  return {plain ? square * (R)(1 - 0x1p-18) : (R)-1, plain ? square * (R)(1 + 0x1p-18) : (R)__builtin_inf()};
}
// By the bits, ordered as integers: of a choice between numbers the compiler would make one between squares.
ACCEL_INLINE f32 moderate_part(f32 part) {
  constexpr i32 low = __builtin_bit_cast(i32, 1 / large_part<f32>), high = __builtin_bit_cast(i32, large_part<f32>);
  const i32 bits = __builtin_bit_cast(i32, part) & 0x7fffffff, raised = bits < low ? low : bits;
  return __builtin_bit_cast(f32, raised > high ? high : raised);
}
ACCEL_INLINE f64 moderate_part(f64 part) {
  constexpr i64 low = __builtin_bit_cast(i64, 1 / large_part<f64>), high = __builtin_bit_cast(i64, large_part<f64>);
  const i64 bits = __builtin_bit_cast(i64, part) & 0x7fffffffffffffff, raised = bits < low ? low : bits;
  return __builtin_bit_cast(f64, raised > high ? high : raised);
}
ACCEL_COMPLEX R moderate_square(complex_of<R> a) {
  const R x = moderate_part(a.re), y = moderate_part(a.im);
  return contracted(x, x, y * y);
}
