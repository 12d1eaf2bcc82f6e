// Products of matrices of any layout, as NumPy's loops without BLAS compute them but for the order of additions.
template <class T>
struct ProductSum {
  typedef T Sum;

  ACCEL_DEVICE Sum zero() { return {}; }
  ACCEL_DEVICE Sum next(Sum sum, T a, T b) { return add(sum, multiply(a, b)); }
};
template <>
struct ProductSum<bool8> {
  typedef bool8 Sum;

  ACCEL_DEVICE Sum zero() { return false; }
  ACCEL_DEVICE Sum next(Sum sum, bool8 a, bool8 b) { return sum || (a && b); }
};
#if defined(ACCEL_HAS_HALF)
template <>
struct ProductSum<f16> {
  typedef f32 Sum;

  ACCEL_DEVICE Sum zero() { return 0; }
  ACCEL_DEVICE Sum next(Sum sum, f16 a, f16 b) { return sum + cast<f32>(a) * cast<f32>(b); }
};
#endif
// c = a * b, `count` times, (m,k) by (k,n). A block computes 16 x 16 elements; `load` and `store` are those of T.
constexpr int product_tile = 16;
template <class T, class Load, class Store>
ACCEL_DEVICE void multiply_matrices(const char* a, const char* b, char* c, i64 m, i64 k, i64 n, i64 count, MatrixSteps of_a,
                                    MatrixSteps of_b, MatrixSteps of_c, bool conjugates, Load load, Store store) {
  constexpr int tile = product_tile;
  __shared__ alignas(16) unsigned char memory[2 * tile * (tile + 1) * sizeof(T)];
  T* const left = (T*)memory;
  T* const right = left + tile * (tile + 1);
  const int x = threadIdx.x % tile, y = threadIdx.x / tile;
  const i64 down = (m + tile - 1) / tile, across = (n + tile - 1) / tile, number = (i64)blockIdx.x / (down * across);
  const i64 row = (i64)blockIdx.x / across % down * tile, column = (i64)blockIdx.x % across * tile;
  typename ProductSum<T>::Sum sum = ProductSum<T>::zero();
  for (i64 first = 0; first < k; first += tile) {
    __syncthreads();
    if (row + y < m && first + x < k) {
      const T value = load(of_a.at(a, number, row + y, first + x));
      left[y * (tile + 1) + x] = conjugates ? conjugate(value) : value;
    }
    if (first + y < k && column + x < n) right[y * (tile + 1) + x] = load(of_b.at(b, number, first + y, column + x));
    __syncthreads();
    const int deep = k - first < tile ? (int)(k - first) : tile;
    for (int d = 0; d < deep; ++d) sum = ProductSum<T>::next(sum, left[y * (tile + 1) + d], right[d * (tile + 1) + x]);
  }
  if (row + y < m && column + x < n) store(of_c.at(c, number, row + y, column + x), cast<T>(sum));
}
