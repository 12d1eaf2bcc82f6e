// cuBLAS for tests without a device: the functions that accel calls, on memory of the host. It checks what the real one
// documents: leading dimensions, a stream and then a workspace before each product.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "library_calls.h"

namespace {

using fake_cuda::conjugate;

constexpr int invalid_value = 7;
constexpr int no_transpose = 0, conjugate_transpose = 2;
constexpr size_t least_workspace = size_t{4} << 20;

struct Handle {
  bool has_stream = false, has_workspace = false;
};

template <class T>
T element(const T* matrix, int form, int64_t step, int64_t row, int64_t column) {
  if (form != no_transpose) std::swap(row, column);
  T value = matrix[column * step + row];
  return form == conjugate_transpose ? conjugate(value) : value;
}

template <class T>
int multiply(void* handle, int f, int g, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
             long long stride_a, const void* b, int64_t ldb, long long stride_b, const void* beta, void* c, int64_t ldc,
             long long stride_c, int64_t count) {
  auto* state = static_cast<Handle*>(handle);
  const bool is_ready = std::exchange(state->has_workspace, false) && std::exchange(state->has_stream, false);
  if (!is_ready || m < 1 || n < 1 || k < 1 || count < 1) return invalid_value;
  fake_cuda::DeviceWork work;
  if (lda < (f == no_transpose ? m : k) || ldb < (g == no_transpose ? k : n) || ldc < m) return invalid_value;
  if (*static_cast<const T*>(alpha) != T(1) || *static_cast<const T*>(beta) != T(0)) return invalid_value;
  for (int64_t at = 0; at < count; at++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        T sum = 0;
        for (int64_t l = 0; l < k; l++)
          sum += element(static_cast<const T*>(a) + at * stride_a, f, lda, i, l) *
                 element(static_cast<const T*>(b) + at * stride_b, g, ldb, l, j);
        static_cast<T*>(c)[at * stride_c + j * ldc + i] = sum;
      }
  return 0;
}

}  // namespace

#define PRODUCT(symbol, batch_symbol, T)                                                                                       \
  int symbol(void* handle, int f, int g, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,       \
             const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {                                             \
    return multiply<T>(handle, f, g, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);                                \
  }                                                                                                                            \
  int batch_symbol(void* handle, int f, int g, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda, \
                   long long sa, const void* b, int64_t ldb, long long sb, const void* beta, void* c, int64_t ldc,             \
                   long long sc, int64_t count) {                                                                              \
    return multiply<T>(handle, f, g, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count);                         \
  }

extern "C" {
int cublasCreate_v2(void** handle) { return *handle = new Handle, 0; }
int cublasSetStream_v2(void* handle, void*) {
  *static_cast<Handle*>(handle) = {true, false};
  return 0;
}
int cublasSetWorkspace_v2(void* handle, void* memory, size_t bytes) {
  static_cast<Handle*>(handle)->has_workspace = memory != nullptr && bytes >= least_workspace;
  return 0;
}
int cublasSetMathMode(void*, int mode) { return mode == 0 || mode == 2 ? 0 : invalid_value; }
int cublasGetProperty(int property, int* value) { return *value = property == 0 ? 13 : 0, 0; }
const char* cublasGetStatusString(int status) { return status == invalid_value ? "invalid value" : "status"; }
PRODUCT(cublasSgemm_v2_64, cublasSgemmStridedBatched_64, float)
PRODUCT(cublasDgemm_v2_64, cublasDgemmStridedBatched_64, double)
PRODUCT(cublasCgemm_v2_64, cublasCgemmStridedBatched_64, std::complex<float>)
PRODUCT(cublasZgemm_v2_64, cublasZgemmStridedBatched_64, std::complex<double>)
}
