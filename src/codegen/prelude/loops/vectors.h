// What the operations on vectors make up.
template <class M, class V>
ACCEL_INLINE M v_isnan(M mask, V a) {
  return v_not_equal(mask, a, a);
}
template <class M, class V>
ACCEL_INLINE V v_square(M mask, V a) {
  return v_multiply(mask, a, a);
}
template <class M, class V>
ACCEL_INLINE V v_heaviside(M m, V a, V at_zero) {
  typedef typename ElementOf<V>::type R;
  const V zero = v_all<V>((R)0);
  const V step = v_where(v_less(m, zero, a), v_all<V>((R)1), zero);
  const V number = v_where(v_equal(m, a, zero), at_zero, step);
  return v_where(v_not_equal(m, a, a), v_all<V>((R)__builtin_nan("")), number);
}
#define ACCEL_VECTOR_COMPLEX(name) \
  template <class M, class V>      \
  ACCEL_INLINE complex_of<V> name
ACCEL_VECTOR_COMPLEX(v_add)(M m, complex_of<V> a, complex_of<V> b) { return {v_add(m, a.re, b.re), v_add(m, a.im, b.im)}; }
ACCEL_VECTOR_COMPLEX(v_add_or)(M m, complex_of<V> a, complex_of<V> b, complex_of<V> other) {
  return {v_add_or(m, a.re, b.re, other.re), v_add_or(m, a.im, b.im, other.im)};
}
ACCEL_VECTOR_COMPLEX(v_subtract)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_subtract(m, a.re, b.re), v_subtract(m, a.im, b.im)};
}
ACCEL_VECTOR_COMPLEX(v_subtract_or)(M m, complex_of<V> a, complex_of<V> b, complex_of<V> other) {
  return {v_subtract_or(m, a.re, b.re, other.re), v_subtract_or(m, a.im, b.im, other.im)};
}
ACCEL_VECTOR_COMPLEX(v_multiply)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_subtract(m, v_multiply(m, a.re, b.re), v_multiply(m, a.im, b.im)),
          v_add(m, v_multiply(m, a.re, b.im), v_multiply(m, a.im, b.re))};
}
ACCEL_VECTOR_COMPLEX(v_square)(M m, complex_of<V> a) { return v_multiply(m, a, a); }
ACCEL_VECTOR_COMPLEX(v_fused_multiply)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_contracted_minus(m, a.re, b.re, v_multiply(m, a.im, b.im)), v_contracted(m, a.re, b.im, v_multiply(m, a.im, b.re))};
}
ACCEL_VECTOR_COMPLEX(v_negative)(M m, complex_of<V> a) { return {v_negative(m, a.re), v_negative(m, a.im)}; }
ACCEL_VECTOR_COMPLEX(v_conjugate)(M m, complex_of<V> a) { return {a.re, v_negative(m, a.im)}; }
ACCEL_VECTOR_COMPLEX(v_where)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_where(m, a.re, b.re), v_where(m, a.im, b.im)};
}
template <class V>
ACCEL_INLINE void v_do_not_optimize(complex_of<V> a) {
  v_do_not_optimize(a.re), v_do_not_optimize(a.im);
}
// `absolute` of complex.h.
template <class M, class V>
ACCEL_INLINE V v_absolute(M m, complex_of<V> a) {
  typedef typename ElementOf<V>::type R;
  constexpr R lowest = sizeof(R) == 4 ? (R)__FLT_DENORM_MIN__ : (R)__DBL_DENORM_MIN__;
  constexpr R highest = sizeof(R) == 4 ? (R)__FLT_MAX__ : (R)__DBL_MAX__;
  const V least = v_all<V>(lowest), most = v_all<V>(highest), infinity = v_all<V>((R)__builtin_inf());
  const V x = v_absolute(m, a.re), y = v_absolute(m, a.im);
  const M ordered = v_greater(m, x, y);
  const V larger = v_where(ordered, x, y), smaller = v_where(ordered, y, x);
  const M nan = v_not_equal(m, x, x) | v_not_equal(m, y, y), infinite = v_equal(m, x, infinity) | v_equal(m, y, infinity);
  const V ratio = quiet_divide(v_not(m, nan), v_where(v_less(m, smaller, most), smaller, most),
                               v_where(v_greater(m, larger, least), larger, least));
  const V length = quiet_multiply(quiet_sqrt(quiet_contracted(ratio, ratio, v_all<V>((R)1))), larger);
  return v_where(infinite, infinity, v_where(nan, quiet_add(x, y), length));
}

// A number whose squared modulus is below `surely_below(bound)` has a modulus below the bound, with more margin than NumPy's
// rounding takes. The converse does not hold.
template <class M, class V>
ACCEL_INLINE M v_surely_below(M mask, complex_of<V> a, V limit) {
  return v_less(mask, quiet_contracted(a.re, a.re, quiet_multiply(a.im, a.im)), limit);
}
// The square of what is below: of its parts' products no event but underflow is possible, and that is not noticed. They need
// not wait for the mask.
template <class M, class V>
ACCEL_INLINE complex_of<V> v_bounded_square(M mask, complex_of<V> a) {
  return {v_contracted_minus(mask, a.re, a.re, quiet_multiply(a.im, a.im)),
          v_contracted(mask, a.re, a.im, quiet_multiply(a.im, a.re))};
}
template <class R>
ACCEL_INLINE R surely_below(R bound) {
  const bool plain = is_less_equal((R)0x1p-50, bound) & is_less_equal(bound, (R)0x1p60);
  const R number = opaque(plain ? bound : (R)1);
  return plain ? number * number * (R)(1 - 0x1p-18) : (R)0;
}
