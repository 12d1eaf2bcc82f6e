// Linear equations, inverses, determinants and Cholesky factors of stacks of matrices, by the steps of LAPACK's unblocked
// routines. The threads of a block work on one matrix, in memory where its rows of `width` elements follow each other.

// LAPACK's measure of a pivot.
template <class R>
ACCEL_DEVICE R pivot_size(R a) {
  return absolute(a);
}
template <class R>
ACCEL_DEVICE R pivot_size(complex_of<R> a) {
  return pivot_size(a.re) + pivot_size(a.im);
}
template <class R>
ACCEL_DEVICE R real_part(R a) {
  return a;
}
template <class R>
ACCEL_DEVICE R real_part(complex_of<R> a) {
  return a.re;
}
template <class R>
ACCEL_DEVICE R divided_by_real(R a, R b) {
  return a / b;
}
template <class R>
ACCEL_DEVICE complex_of<R> divided_by_real(complex_of<R> a, R b) {
  return {a.re / b, a.im / b};
}

// The row, from row k on, with the largest element of column k; the first of equals. For the threads of one warp.
template <class T>
ACCEL_DEVICE i64 find_pivot(const T* matrix, i64 n, i64 width, i64 k) {
  decltype(pivot_size(T())) best = -1;
  i64 row = n;
  for (i64 i = k + threadIdx.x % 32; i < n; i += 32) {
    const auto size = pivot_size(matrix[i * width + k]);
    if (size > best) best = size, row = i;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const auto other = value_across(best, offset);
    const i64 other_row = value_across(row, offset);
    if (other > best || (other == best && other_row < row)) best = other, row = other_row;
  }
  return row < n ? row : k;
}

// Gaussian elimination with partial pivoting of the first n columns of n rows. The rows get the upper factor on and above the
// diagonal, and the other columns what the row operations make of them; elements below the diagonal have no meaning. Returns
// whether a pivot is 0, and adds the exchanges of rows to `swaps`.
template <class T>
ACCEL_DEVICE bool eliminate(T* matrix, i64 n, i64 width, int& swaps) {
  __shared__ i64 pivot;
  const i64 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  bool is_singular = false;
  for (i64 k = 0; k < n; ++k) {
    if (warp == 0) {
      const i64 found = find_pivot(matrix, n, width, k);
      if (lane == 0) pivot = found;
    }
    __syncthreads();
    const i64 other = pivot;
    T *const row = matrix + k * width, *const other_row = matrix + other * width;
    if (other != k) {
      ++swaps;
      for (i64 j = k + threadIdx.x; j < width; j += blockDim.x) {
        const T value = row[j];
        row[j] = other_row[j], other_row[j] = value;
      }
    }
    __syncthreads();
    const T head = row[k];
    is_singular |= pivot_size(head) == 0;
    for (i64 i = k + 1 + warp; i < n; i += warps) {
      T* const target = matrix + i * width;
      const T factor = divide(target[k], head);
      for (i64 j = k + 1 + lane; j < width; j += 32) target[j] = subtract(target[j], multiply(factor, row[j]));
    }
    __syncthreads();
  }
  return is_singular;
}

// Replaces the columns from n on by the solutions of the triangular systems that `eliminate` has left.
template <class T>
ACCEL_DEVICE void substitute_back(T* matrix, i64 n, i64 width) {
  const i64 columns = width - n;
  for (i64 k = n; k-- > 0;) {
    T* const row = matrix + k * width;
    for (i64 j = n + threadIdx.x; j < width; j += blockDim.x) row[j] = divide(row[j], row[k]);
    __syncthreads();
    for (i64 e = threadIdx.x; e < k * columns; e += blockDim.x) {
      T* const target = matrix + e / columns * width;
      const i64 j = n + e % columns;
      target[j] = subtract(target[j], multiply(target[k], row[j]));
    }
    __syncthreads();
  }
}

// The lower Cholesky factor in place; only elements on and below the diagonal are read and written. Returns whether the matrix
// is not positive definite.
template <class T>
ACCEL_DEVICE bool factor_by_cholesky(T* matrix, i64 n) {
  const i64 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  bool has_failed = false;
  for (i64 k = 0; k < n; ++k) {
    const auto head = real_part(matrix[k * n + k]);
    has_failed |= head <= 0;
    const auto root = ::sqrt(head);
    __syncthreads();
    for (i64 i = k + threadIdx.x; i < n; i += blockDim.x)
      matrix[i * n + k] = i == k ? cast<T>(root) : divided_by_real(matrix[i * n + k], root);
    __syncthreads();
    for (i64 i = k + 1 + warp; i < n; i += warps)
      for (i64 j = k + 1 + lane; j <= i; j += 32)
        matrix[i * n + j] = subtract(matrix[i * n + j], multiply(matrix[i * n + k], conjugate(matrix[j * n + k])));
    __syncthreads();
  }
  return has_failed;
}

// NumPy's determinant: the sign and the logarithm of the size are accumulated apart.
template <class R>
ACCEL_DEVICE void add_factor(R a, R& sign, R& logarithm) {
  if (a < 0) sign = -sign, a = -a;
  logarithm += ::log(a);
}
template <class R>
ACCEL_DEVICE void add_factor(complex_of<R> a, complex_of<R>& sign, R& logarithm) {
  const R size = absolute(a);
  sign = multiply(sign, divided_by_real(a, size));
  logarithm += ::log(size);
}
// The product of the elements on the diagonal, negated when `is_negated`.
template <class T>
ACCEL_DEVICE T product_of_diagonal(const T* matrix, i64 n, i64 width, bool is_negated) {
  T sign = cast<T>(is_negated ? -1.0 : 1.0);
  decltype(pivot_size(T())) logarithm = 0;
  for (i64 k = 0; k < n; ++k) add_factor(matrix[k * width + k], sign, logarithm);
  return multiply(sign, cast<T>(::exp(logarithm)));
}

// Memory of a block for a matrix: `bytes` of `memory`, or dynamic shared memory when that is null.
ACCEL_DEVICE unsigned char* matrix_memory(char* memory, i64 bytes) {
  return memory == nullptr ? dynamic_shared : (unsigned char*)memory + blockIdx.x * bytes;
}

// x = the inverse of a times b; b is the identity when it is null. Sets *failed when a matrix is singular.
template <class T, class Load, class Store>
ACCEL_DEVICE void solve_matrices(const char* a, const char* b, char* x, i64 n, i64 columns, i64 count, MatrixSteps of_a,
                                 MatrixSteps of_b, MatrixSteps of_x, T* matrix, i64* failed, Load load, Store store) {
  const i64 width = n + columns;
  for (i64 number = blockIdx.x; number < count; number += gridDim.x) {
    for (i64 e = threadIdx.x; e < n * width; e += blockDim.x) {
      const i64 i = e / width, j = e % width;
      matrix[e] = j < n          ? load(of_a.at(a, number, i, j))
                  : b == nullptr ? cast<T>(j - n == i ? 1.0 : 0.0)
                                 : load(of_b.at(b, number, i, j - n));
    }
    __syncthreads();
    int swaps = 0;
    if (eliminate(matrix, n, width, swaps) && threadIdx.x == 0) *failed = 1;
    substitute_back(matrix, n, width);
    for (i64 e = threadIdx.x; e < n * columns; e += blockDim.x)
      store(of_x.at(x, number, e / columns, e % columns), matrix[e / columns * width + n + e % columns]);
    __syncthreads();
  }
}

// x[number] = the determinant of matrix `number`; x has steps of of_x.matrix bytes.
template <class T, class Load, class Store>
ACCEL_DEVICE void find_determinants(const char* a, char* x, i64 n, i64 count, MatrixSteps of_a, MatrixSteps of_x, T* matrix,
                                    Load load, Store store) {
  for (i64 number = blockIdx.x; number < count; number += gridDim.x) {
    for (i64 e = threadIdx.x; e < n * n; e += blockDim.x) matrix[e] = load(of_a.at(a, number, e / n, e % n));
    __syncthreads();
    int swaps = 0;
    const bool is_singular = eliminate(matrix, n, n, swaps);
    if (threadIdx.x == 0)
      store(of_x.at(x, number, 0, 0), is_singular ? T() : product_of_diagonal(matrix, n, n, swaps % 2 != 0));
    __syncthreads();
  }
}

// x = the lower Cholesky factors. Only elements on and below the diagonal are read; all are conjugated when `conjugates`. Sets
// *failed when a matrix is not positive definite.
template <class T, class Load, class Store>
ACCEL_DEVICE void find_cholesky_factors(const char* a, char* x, i64 n, i64 count, MatrixSteps of_a, MatrixSteps of_x,
                                        bool conjugates, T* matrix, i64* failed, Load load, Store store) {
  for (i64 number = blockIdx.x; number < count; number += gridDim.x) {
    for (i64 e = threadIdx.x; e < n * n; e += blockDim.x) {
      if (e % n > e / n) continue;
      const T value = load(of_a.at(a, number, e / n, e % n));
      matrix[e] = conjugates ? conjugate(value) : value;
    }
    __syncthreads();
    if (factor_by_cholesky(matrix, n) && threadIdx.x == 0) *failed = 1;
    for (i64 e = threadIdx.x; e < n * n; e += blockDim.x) {
      const T value = e % n > e / n ? T() : matrix[e];
      store(of_x.at(x, number, e / n, e % n), conjugates ? conjugate(value) : value);
    }
    __syncthreads();
  }
}

// Copies a matrix of rows x columns elements, or the identity when `from` is null; elements above the diagonal become 0 when
// `is_lower`. For what a library factors in place.
template <class T, class Load, class Store>
ACCEL_DEVICE void copy_matrix(const char* from, char* to, i64 rows, i64 columns, MatrixSteps of_from, MatrixSteps of_to,
                              bool conjugates, bool is_lower, Load load, Store store) {
  const i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= rows * columns) return;
  const i64 i = e / columns, j = e % columns;
  const T value = from == nullptr ? cast<T>(i == j ? 1.0 : 0.0) : is_lower && j > i ? T() : load(of_from.at(from, 0, i, j));
  store(of_to.at(to, 0, i, j), conjugates ? conjugate(value) : value);
}

// The determinant of n rows that a library has factored: `pivots` are the rows that it has exchanged with each row, counted
// from 1, and *info says whether a pivot is 0. For one thread.
template <class T, class Store>
ACCEL_DEVICE void find_factored_determinant(const T* matrix, const i64* pivots, const int* info, i64 n, char* x, Store store) {
  bool is_negated = false;
  for (i64 k = 0; k < n; ++k) is_negated ^= pivots[k] != k + 1;
  store(x, *info > 0 ? T() : product_of_diagonal(matrix, n, n, is_negated));
}
