// Python's products and quotients of complex numbers (Objects/complexobject.c), without events.

// The divisor is scaled by its larger part (Smith, "Algorithm 116: Complex Division", CACM 5(8), 1962).
static inline c128 complex_quotient(c128 a, c128 b) {
  if (fabs(b.re) >= fabs(b.im)) {
    const f64 ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + rounded(a.im * ratio)) / scale, (a.im - rounded(a.re * ratio)) / scale};
  }
  if (fabs(b.im) >= fabs(b.re)) {
    const f64 ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(rounded(a.re * ratio) + a.im) / scale, (rounded(a.im * ratio) - a.re) / scale};
  }
  return {__builtin_nan(""), __builtin_nan("")};
}

// C99, annex G: where a result is no number although an operand is infinite, the direction of the infinite operand decides.
ACCEL_INLINE bool8 is_infinite(c128 a) { return isinf(a.re) | isinf(a.im); }
ACCEL_INLINE bool8 is_finite(c128 a) { return isfinite(a.re) & isfinite(a.im); }
ACCEL_INLINE bool8 is_no_number(c128 a) { return isnan(a.re) & isnan(a.im); }
ACCEL_INLINE f64 infinity_as_one(f64 a) { return copysign(isinf(a) ? 1.0 : 0.0, a); }
ACCEL_INLINE f64 nan_as_zero(f64 a) { return isnan(a) ? copysign(0.0, a) : a; }
ACCEL_INLINE c128 direction_of(c128 a) { return {infinity_as_one(a.re), infinity_as_one(a.im)}; }
ACCEL_INLINE c128 without_nan(c128 a) { return {nan_as_zero(a.re), nan_as_zero(a.im)}; }
ACCEL_INLINE c128 multiplied(f64 factor, f64 re, f64 im) { return {factor * re, factor * im}; }

static inline c128 c99_product(c128 a, c128 b) {
  const f64 re = a.re * b.re, im = a.im * b.im, re_im = a.re * b.im, im_re = a.im * b.re;
  const c128 out{rounded(re) - rounded(im), rounded(re_im) + rounded(im_re)};
  if (__builtin_expect(!is_no_number(out), 1)) return out;
  const bool8 overflows = isinf(re) | isinf(im) | isinf(re_im) | isinf(im_re);
  const bool8 any_infinite = is_infinite(a) | is_infinite(b);
  if (!any_infinite & !overflows) return out;
  if (is_infinite(a)) {
    a = direction_of(a);
    b = without_nan(b);
  }
  if (is_infinite(b)) {
    b = direction_of(b);
    a = without_nan(a);
  }
  if (!any_infinite) {
    a = without_nan(a);
    b = without_nan(b);
  }
  return multiplied(__builtin_inf(), rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re));
}

static inline c128 c99_quotient(c128 a, c128 b) {
  const c128 out = complex_quotient(a, b);
  if (__builtin_expect(!is_no_number(out), 1)) return out;
  const bool8 is_large = is_infinite(a) & is_finite(b);
  if (!is_large & !(is_infinite(b) & is_finite(a))) return out;
  if (is_large)
    a = direction_of(a);
  else
    b = direction_of(b);
  return multiplied(is_large ? __builtin_inf() : 0.0, rounded(a.re * b.re) + rounded(a.im * b.im),
                    rounded(a.im * b.re) - rounded(a.re * b.im));
}

// The real part of `number` divided by `b`; its imaginary part is not read.
static inline c128 c99_quotient_of_real(c128 number, c128 b) {
  const f64 a = number.re;
  c128 out{__builtin_nan(""), __builtin_nan("")};
  if (fabs(b.re) >= fabs(b.im)) {
    const f64 ratio = b.im / b.re, scale = b.re + b.im * ratio;
    out = {a / scale, -a * ratio / scale};
  } else if (fabs(b.im) >= fabs(b.re)) {
    const f64 ratio = b.re / b.im, scale = b.re * ratio + b.im;
    out = {a * ratio / scale, -a / scale};
  }
  if (__builtin_expect(!is_no_number(out), 1) || !isfinite(a) || !is_infinite(b)) return out;
  b = direction_of(b);
  return multiplied(0.0, a * b.re, -a * b.im);
}
