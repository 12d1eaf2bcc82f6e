// Casts between complex numbers and float16, which both of the general rules match.
template <class R>
struct Cast<f16, complex_of<R>> {
  ACCEL_INLINE f16 of(complex_of<R> a) { return cast<f16>(a.re); }
};
template <class R>
struct Cast<complex_of<R>, f16> {
  ACCEL_INLINE complex_of<R> of(f16 a) { return {(R)widen(a), 0}; }
};
