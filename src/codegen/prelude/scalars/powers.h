// Powers with small exponents that have the bits of the C library's pow, which is what CPython and NumPy's scalars call.
#if defined(__linux__) && (defined(__FMA__) || defined(__aarch64__))
// Of powers within is_plain pow is less than 0.514 units off: by their analysis glibc and musl are off by 0.511 in the
// exponential, and in the logarithm by 0.00004 per unit of the power's exponent to base 2. So where the exact power is within
// 0.486 units of a float, pow gives that float.
ACCEL_INLINE u64 bits_of_size(f64 a) { return __builtin_bit_cast(u64, fabs(a)); }
// 0.486 of the smaller of the units on both sides of a float that is no zero, as bits.
ACCEL_INLINE u64 rest_limit(f64 power) {
  return ((bits_of_size(power) - 1) & 0x7ff0000000000000u) - ((u64)54 << 52) +
         (__builtin_bit_cast(u64, 1.944) & 0xfffffffffffffu);
}
// Powers far from overflow and underflow, and so are their rests and the powers below.
ACCEL_INLINE bool is_plain(f64 power) {
  const u64 least = __builtin_bit_cast(u64, 0x1p-64), most = __builtin_bit_cast(u64, 0x1p64);
  return bits_of_size(power) - least < most - least;
}
ACCEL_INLINE bool is_nearest_power(f64 base, int exponent, f64& power) {
  f64 product = base * base;
  if (!is_plain(product)) return false;
  // Nothing below is worked out before the test: it could raise events.
  product = rounded(product);
  f64 rest = __builtin_fma(base, base, -product);
  for (int k = 2; k < exponent; ++k) {
    const f64 next = product * base;
    rest = __builtin_fma(product, base, -next) + rounded(rest * base);
    product = next + rest;
    rest = rest - (product - next);
  }
  power = product;
  if (exponent > 2 && !is_plain(product)) return false;
  // A rest of 0.486 units would round to another float when it is this much greater.
  return __builtin_bit_cast(u64, __builtin_fma(rest, 1.03125, product)) == __builtin_bit_cast(u64, product);
}
// Whether the power is known without pow.
ACCEL_INLINE bool is_known_power(f64 base, f64 exponent, f64& power) {
  if (exponent == 2) return is_nearest_power(base, 2, power);
  if (exponent == 3) return is_nearest_power(base, 3, power);
  if (exponent == 4) return is_nearest_power(base, 4, power);
  if (exponent != 0.5 || !is_plain(base) || base < 0) return false;
  power = __builtin_sqrt(base);
  return fabs(__builtin_fma(-power, power, base)) < __builtin_bit_cast(f64, rest_limit(power)) * (2 * power);
}
#else
ACCEL_INLINE bool is_known_power(f64, f64, f64&) { return false; }
#endif

// CPython decides itself which NaN a power is.
static __attribute__((noinline, cold)) f64 python_pow(f64 base, f64 exponent) {
  if (exponent != 0 && isnan(base)) return base;
  return isnan(exponent) && base != 1 ? exponent : libm_pow(base, exponent);
}
ACCEL_INLINE f64 math_power(f64 base, f64 exponent) {
  f64 power;
  return __builtin_expect(is_known_power(base, exponent, power), 1) ? power : python_pow(base, exponent);
}
ACCEL_INLINE f64 scalar_power(f64 base, f64 exponent) {
  f64 power;
  return __builtin_expect(is_known_power(base, exponent, power), 1) ? power : libm_pow(base, exponent);
}
ACCEL_INLINE f32 scalar_power(f32 base, f32 exponent) { return libm_powf(base, exponent); }
