// cuSOLVER for tests without a device: the functions that accel calls, on memory of the host, by the textbook. It checks what
// the real one documents: a stream, workspaces of the sizes that it has asked for, leading dimensions.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "library_calls.h"

namespace {

using fake_cuda::conjugate;

constexpr int invalid_value = 3;
constexpr size_t device_workspace = 4096, host_workspace = 64;

struct Handle {
  bool has_stream = false;
};

template <class T>
T& element(T* matrix, int64_t step, int64_t row, int64_t column) {
  return matrix[column * step + row];
}

template <class T>
int factor_lu(T* a, int64_t n, int64_t* pivots) {
  int info = 0;
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (std::abs(element(a, n, i, k)) > std::abs(element(a, n, best, k))) best = i;
    pivots[k] = best + 1;
    for (int64_t j = 0; j < n; j++) std::swap(element(a, n, k, j), element(a, n, best, j));
    if (element(a, n, k, k) == T(0)) {
      info = info == 0 ? static_cast<int>(k + 1) : info;
      continue;
    }
    for (int64_t i = k + 1; i < n; i++) {
      const T factor = element(a, n, i, k) /= element(a, n, k, k);
      for (int64_t j = k + 1; j < n; j++) element(a, n, i, j) -= factor * element(a, n, k, j);
    }
  }
  return info;
}

template <class T>
int solve_lu(const T* a, const int64_t* pivots, T* right, int64_t n, int64_t columns) {
  for (int64_t c = 0; c < columns; c++) {
    T* x = right + c * n;
    for (int64_t k = 0; k < n; k++) std::swap(x[k], x[pivots[k] - 1]);
    for (int64_t k = 0; k < n; k++)
      for (int64_t i = k + 1; i < n; i++) x[i] -= a[k * n + i] * x[k];
    for (int64_t k = n; k-- > 0;) {
      x[k] /= a[k * n + k];
      for (int64_t i = 0; i < k; i++) x[i] -= a[k * n + i] * x[k];
    }
  }
  return 0;
}

template <class T>
int factor_cholesky(T* a, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    const auto head = std::real(element(a, n, k, k));
    if (!(head > 0)) return static_cast<int>(k + 1);
    element(a, n, k, k) = std::sqrt(head);
    for (int64_t i = k + 1; i < n; i++) element(a, n, i, k) /= element(a, n, k, k);
    for (int64_t j = k + 1; j < n; j++)
      for (int64_t i = j; i < n; i++) element(a, n, i, j) -= element(a, n, i, k) * conjugate(element(a, n, j, k));
  }
  return 0;
}

// `work(pointer of the type)` for the type of a cudaDataType.
template <class Work>
int for_type(int type, Work work) {
  switch (type) {
    case 0:
      return work(static_cast<float*>(nullptr));
    case 1:
      return work(static_cast<double*>(nullptr));
    case 4:
      return work(static_cast<std::complex<float>*>(nullptr));
    case 5:
      return work(static_cast<std::complex<double>*>(nullptr));
    default:
      return -1;
  }
}

bool is_ready(void* handle, void* options, int64_t n, int64_t step) {
  return static_cast<Handle*>(handle)->has_stream && options != nullptr && n > 0 && step == n;
}

// Workspaces are written, as the real ones are.
bool use_workspaces(void* device_memory, size_t device_bytes, void* host_memory, size_t host_bytes) {
  if (device_bytes < device_workspace || host_bytes < host_workspace) return false;
  std::memset(device_memory, 0x5a, device_workspace);
  std::memset(host_memory, 0x5a, host_workspace);
  return true;
}

int give_sizes(size_t* on_device, size_t* on_host) {
  *on_device = device_workspace;
  *on_host = host_workspace;
  return 0;
}

}  // namespace

extern "C" {
int cusolverDnCreate(void** handle) { return *handle = new Handle, 0; }
int cusolverDnSetStream(void* handle, void*) {
  static_cast<Handle*>(handle)->has_stream = true;
  return 0;
}
int cusolverDnCreateParams(void** options) { return *options = new int, 0; }
int cusolverGetProperty(int property, int* value) { return *value = property == 0 ? 12 : 0, 0; }
int cusolverDnXgetrf_bufferSize(void* handle, void* options, int64_t m, int64_t n, int, const void*, int64_t step, int,
                                size_t* on_device, size_t* on_host) {
  return is_ready(handle, options, n, step) && m == n ? give_sizes(on_device, on_host) : invalid_value;
}
int cusolverDnXgetrf(void* handle, void* options, int64_t m, int64_t n, int type, void* a, int64_t step, int64_t* pivots,
                     int compute_type, void* device_memory, size_t device_bytes, void* host_memory, size_t host_bytes,
                     int* info) {
  if (!is_ready(handle, options, n, step) || m != n || compute_type != type) return invalid_value;
  fake_cuda::DeviceWork work;
  if (!use_workspaces(device_memory, device_bytes, host_memory, host_bytes)) return invalid_value;
  *info = for_type(type, [&](auto* of) { return factor_lu(static_cast<decltype(of)>(a), n, pivots); });
  return *info < 0 ? invalid_value : 0;
}
int cusolverDnXgetrs(void* handle, void* options, int form, int64_t n, int64_t columns, int type, const void* a, int64_t step,
                     const int64_t* pivots, int right_type, void* right, int64_t right_step, int* info) {
  const bool fits = is_ready(handle, options, n, step) && form == 0 && columns > 0 && right_type == type && right_step == n;
  if (!fits) return invalid_value;
  fake_cuda::DeviceWork work;
  *info = for_type(type, [&](auto* of) {
    using T = decltype(of);
    return solve_lu(static_cast<T>(const_cast<void*>(a)), pivots, static_cast<T>(right), n, columns);
  });
  return *info < 0 ? invalid_value : 0;
}
int cusolverDnXpotrf_bufferSize(void* handle, void* options, int, int64_t n, int, const void*, int64_t step, int,
                                size_t* on_device, size_t* on_host) {
  return is_ready(handle, options, n, step) ? give_sizes(on_device, on_host) : invalid_value;
}
int cusolverDnXpotrf(void* handle, void* options, int triangle, int64_t n, int type, void* a, int64_t step, int compute_type,
                     void* device_memory, size_t device_bytes, void* host_memory, size_t host_bytes, int* info) {
  if (!is_ready(handle, options, n, step) || triangle != 0 || compute_type != type) return invalid_value;
  fake_cuda::DeviceWork work;
  if (!use_workspaces(device_memory, device_bytes, host_memory, host_bytes)) return invalid_value;
  *info = for_type(type, [&](auto* of) { return factor_cholesky(static_cast<decltype(of)>(a), n); });
  return *info < 0 ? invalid_value : 0;
}
}
