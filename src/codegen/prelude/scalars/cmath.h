// Functions of Python's cmath by CPython's formulas (Modules/cmathmodule.c), with the C library's functions. Where CPython
// treats an argument as a special case, or raises, the result is NaN: the call is left to it.
ACCEL_INLINE c128 cmath_left() { return {__builtin_nan(""), __builtin_nan("")}; }
ACCEL_INLINE bool8 is_moderate(c128 z) { return fabs(z.re) <= 0x1p500 && fabs(z.im) <= 0x1p500; }
ACCEL_INLINE bool8 is_subnormal(c128 z) { return fabs(z.re) < 0x1p-1022 && fabs(z.im) < 0x1p-1022; }
ACCEL_INLINE bool8 has_exp(f64 re, f64 im) { return fabs(re) <= 708 && fabs(im) <= 0x1p1023; }

static inline c128 cmath_sqrt(c128 z) {
  if (z.re == 0 && z.im == 0) return {0.0, z.im};
  if (!is_moderate(z) || is_subnormal(z)) return cmath_left();
  const f64 re = fabs(z.re) / 8, im = fabs(z.im);
  const f64 larger = 2 * __builtin_sqrt(re + libm_hypot(re, im / 8));
  const f64 smaller = im / (2 * larger);
  if (z.re >= 0) return {larger, copysign(smaller, z.im)};
  return {smaller, copysign(larger, z.im)};
}

static inline c128 cmath_log(c128 z) {
  if (!is_moderate(z) || is_subnormal(z)) return cmath_left();
  const f64 re = fabs(z.re), im = fabs(z.im), size = libm_hypot(re, im);
  const f64 larger = re > im ? re : im, smaller = re > im ? im : re;
  const bool8 near_one = 0.71 <= size && size <= 1.73;
  const f64 real = near_one ? libm_log1p((larger - 1) * (larger + 1) + smaller * smaller) / 2 : libm_log(size);
  return {real, libm_atan2(z.im, z.re)};
}

static inline c128 cmath_log10(c128 z) {
  constexpr f64 ln10 = 2.302585092994045684;
  const c128 natural = cmath_log(z);
  return {natural.re / ln10, natural.im / ln10};
}

static inline c128 cmath_exp(c128 z) {
  if (!has_exp(z.re, z.im)) return cmath_left();
  const f64 size = libm_exp(z.re);
  return {size * libm_cos(z.im), size * libm_sin(z.im)};
}

static inline c128 cmath_cosh(c128 z) {
  if (!has_exp(z.re, z.im)) return cmath_left();
  return {libm_cos(z.im) * libm_cosh(z.re), libm_sin(z.im) * libm_sinh(z.re)};
}
static inline c128 cmath_sinh(c128 z) {
  if (!has_exp(z.re, z.im)) return cmath_left();
  return {libm_cos(z.im) * libm_sinh(z.re), libm_sin(z.im) * libm_cosh(z.re)};
}
static inline c128 cmath_tanh(c128 z) {
  if (!has_exp(z.re, z.im)) return cmath_left();
  const f64 along = libm_tanh(z.re), across = libm_tan(z.im), shrinks = 1 / libm_cosh(z.re);
  const f64 both = along * across, divisor = 1 + both * both;
  return {along * (1 + across * across) / divisor, ((across / divisor) * shrinks) * shrinks};
}

static inline c128 cmath_acos(c128 z) {
  if (!is_moderate(z)) return cmath_left();
  const c128 below = cmath_sqrt({1 - z.re, -z.im}), above = cmath_sqrt({1 + z.re, z.im});
  return {2 * libm_atan2(below.re, above.re), libm_asinh(above.re * below.im - above.im * below.re)};
}
static inline c128 cmath_acosh(c128 z) {
  if (!is_moderate(z)) return cmath_left();
  const c128 below = cmath_sqrt({z.re - 1, z.im}), above = cmath_sqrt({z.re + 1, z.im});
  return {libm_asinh(below.re * above.re + below.im * above.im), 2 * libm_atan2(below.im, above.re)};
}
static inline c128 cmath_asinh(c128 z) {
  if (!is_moderate(z)) return cmath_left();
  const c128 above = cmath_sqrt({1 + z.im, -z.re}), below = cmath_sqrt({1 - z.im, z.re});
  return {libm_asinh(above.re * below.im - below.re * above.im), libm_atan2(z.im, above.re * below.re - above.im * below.im)};
}
static inline c128 cmath_atanh(c128 z) {
  if (!is_moderate(z)) return cmath_left();
  const bool8 is_left = z.re < 0;
  if (is_left) z = {-z.re, -z.im};
  const f64 im = fabs(z.im);
  if (z.re == 1 && im < 0x1p-511) return cmath_left();
  const c128 out = {libm_log1p(4 * z.re / ((1 - z.re) * (1 - z.re) + im * im)) / 4,
                    -libm_atan2(-2 * z.im, (1 - z.re) * (1 + z.re) - im * im) / 2};
  if (is_left) return {-out.re, -out.im};
  return out;
}

// f(z) = -i g(iz)
ACCEL_INLINE c128 turned(c128 z) { return {-z.im, z.re}; }
ACCEL_INLINE c128 turned_back(c128 z) { return {z.im, -z.re}; }
static inline c128 cmath_sin(c128 z) { return turned_back(cmath_sinh(turned(z))); }
static inline c128 cmath_tan(c128 z) { return turned_back(cmath_tanh(turned(z))); }
static inline c128 cmath_asin(c128 z) { return turned_back(cmath_asinh(turned(z))); }
static inline c128 cmath_atan(c128 z) { return turned_back(cmath_atanh(turned(z))); }
static inline c128 cmath_cos(c128 z) { return cmath_cosh(turned(z)); }

static inline c128 cmath_rect(f64 size, f64 angle) {
  if (!(fabs(size) <= 0x1p1023 && fabs(angle) <= 0x1p1023)) return cmath_left();
  if (angle == 0) return {size, size * angle};
  return {size * libm_cos(angle), size * libm_sin(angle)};
}
