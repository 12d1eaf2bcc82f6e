// What rows of points become before and after a Fourier transform.
constexpr int fourier_threads = 256;

// Numbers of other widths, and floats as complex numbers.
template <class T>
struct Point {
  static T of(f64 number) { return (T)number; }
};
template <class R>
struct Point<complex_of<R>> {
  static complex_of<R> of(f64 number) { return {(R)number, 0}; }
  template <class S>
  static complex_of<R> of(complex_of<S> number) {
    return {(R)number.re, (R)number.im};
  }
};

// Copies rows of `have` elements to rows of n that lie side by side: longer rows are cut, shorter ones end with zeros.
template <class T, class Load>
ACCEL_DEVICE void take_points(const char* from, const RowLayout& layout, i64 have, T* to, i64 n, i64 count, Load load) {
  const i64 k = (i64)blockIdx.x * fourier_threads + threadIdx.x;
  if (k >= count) return;
  const i64 at = k % n;
  to[k] = at < have ? Point<T>::of(load(from + layout.offset(k / n) + at * layout.along)) : T();
}
// Copies spectra as take_points does: of each spectrum of `points` real numbers the first half. The elements that are real for
// real numbers lose their imaginary part.
template <class C, class Load>
ACCEL_DEVICE void take_half(const char* from, const RowLayout& layout, i64 have, C* to, i64 n, i64 count, i64 points,
                            Load load) {
  const i64 k = (i64)blockIdx.x * fourier_threads + threadIdx.x;
  if (k >= count) return;
  const i64 at = k % n;
  C element = at < have ? Point<C>::of(load(from + layout.offset(k / n) + at * layout.along)) : C();
  if (at == 0 || 2 * at == points) element.im = 0;
  to[k] = element;
}

template <class R>
ACCEL_DEVICE R by_factor(R number, f64 factor) {
  return number * (R)factor;
}
template <class R>
ACCEL_DEVICE complex_of<R> by_factor(complex_of<R> number, f64 factor) {
  return {number.re * (R)factor, number.im * (R)factor};
}
// Copies rows of n that lie side by side to where the layout has them, in a dtype of another width.
template <class To, class T, class Store>
ACCEL_DEVICE void store_points(const T* from, char* to, const RowLayout& layout, i64 n, i64 count, f64 factor, Store store) {
  const i64 k = (i64)blockIdx.x * fourier_threads + threadIdx.x;
  if (k < count) store(to + layout.offset(k / n) + k % n * layout.along, Point<To>::of(by_factor(from[k], factor)));
}
