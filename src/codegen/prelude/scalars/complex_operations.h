ACCEL_COMPLEX complex_of<R> square(complex_of<R> a) { return multiply(a, a); }
ACCEL_COMPLEX complex_of<R> divide(complex_of<R> a, complex_of<R> b) {
  if (fabs(b.re) >= fabs(b.im)) {
    if (b.re == 0 && b.im == 0) return {a.re / fabs(held(b.re)), a.im / fabs(held(b.im))};
    const R ratio = held(b.im) / b.re, scale = 1 / (b.re + b.im * ratio);
    return {(a.re + rounded(a.im * ratio)) * scale, (a.im - rounded(a.re * ratio)) * scale};
  }
  const R ratio = held(b.re) / b.im, scale = 1 / (b.im + b.re * ratio);
  return {(rounded(a.re * ratio) + a.im) * scale, (rounded(a.im * ratio) - a.re) * scale};
}
ACCEL_COMPLEX complex_of<R> negative(complex_of<R> a) { return {negative(a.re), negative(a.im)}; }
ACCEL_COMPLEX complex_of<R> conjugate(complex_of<R> a) { return {with_sign(a.re, false), with_sign(a.im, true)}; }
ACCEL_COMPLEX R real(complex_of<R> a) { return a.re; }
ACCEL_COMPLEX R imag(complex_of<R> a) { return a.im; }

ACCEL_COMPLEX bool8 nonzero(complex_of<R> a) { return (a.re != 0) | (a.im != 0); }
ACCEL_COMPLEX bool8 isnan(complex_of<R> a) { return isnan(a.re) | isnan(a.im); }
ACCEL_COMPLEX bool8 isinf(complex_of<R> a) { return isinf(a.re) | isinf(a.im); }
ACCEL_COMPLEX bool8 isfinite(complex_of<R> a) { return isfinite(a.re) & isfinite(a.im); }
ACCEL_COMPLEX bool8 logical_not(complex_of<R> a) { return !nonzero(a); }
ACCEL_COMPLEX bool8 logical_and(complex_of<R> a, complex_of<R> b) { return nonzero(a) & nonzero(b); }
ACCEL_COMPLEX bool8 logical_or(complex_of<R> a, complex_of<R> b) { return nonzero(a) | nonzero(b); }
ACCEL_COMPLEX bool8 logical_xor(complex_of<R> a, complex_of<R> b) { return nonzero(a) != nonzero(b); }

ACCEL_COMPLEX bool8 equal(complex_of<R> a, complex_of<R> b) { return (a.re == b.re) & (a.im == b.im); }
ACCEL_COMPLEX bool8 not_equal(complex_of<R> a, complex_of<R> b) { return (a.re != b.re) | (a.im != b.im); }
#define ACCEL_COMPLEX_ORDER(name, op)                                                                               \
  ACCEL_COMPLEX bool8 name(complex_of<R> a, complex_of<R> b) {                                                      \
    return ((a.re op b.re) & (a.re != b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im op b.im)); \
  }
ACCEL_COMPLEX_ORDER(less, <)
ACCEL_COMPLEX_ORDER(less_equal, <=)
ACCEL_COMPLEX_ORDER(greater, >)
ACCEL_COMPLEX_ORDER(greater_equal, >=)
ACCEL_COMPLEX complex_of<R> maximum(complex_of<R> a, complex_of<R> b) { return isnan(a) | greater_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> minimum(complex_of<R> a, complex_of<R> b) { return isnan(a) | less_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> fmax(complex_of<R> a, complex_of<R> b) { return isnan(b) | greater_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> fmin(complex_of<R> a, complex_of<R> b) { return isnan(b) | less_equal(a, b) ? a : b; }
ACCEL_COMPLEX complex_of<R> clip(complex_of<R> a, complex_of<R> low, complex_of<R> high) {
  const complex_of<R> raised = isnan(a) | greater(a, low) ? a : low;
  return isnan(raised) | less(raised, high) ? raised : high;
}

template <class To, class R>
struct Cast<To, complex_of<R>> {
  ACCEL_INLINE To of(complex_of<R> a) {
    if constexpr (__is_same(To, bool))
      return nonzero(a);
    else
      return cast<To>(a.re);
  }
};
template <class R, class From>
struct Cast<complex_of<R>, From> {
  ACCEL_INLINE complex_of<R> of(From a) { return {cast<R>(a), 0}; }
};
template <class R, class S>
struct Cast<complex_of<R>, complex_of<S>> {
  ACCEL_INLINE complex_of<R> of(complex_of<S> a) { return {(R)a.re, (R)a.im}; }
};
template <class R>
struct Lane<complex_of<R>> {
  ACCEL_INLINE complex_of<R> of(complex_of<R> a, bool8 in, u64 hidden) {
    return {Lane<R>::of(a.re, in, hidden), Lane<R>::of(a.im, in, hidden, cast<R>(0))};
  }
};
