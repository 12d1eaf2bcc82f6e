#pragma once
// Factors of matrices on a device, by cuSOLVER. The library is loaded when it is first needed.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/libraries/math_library.h"

namespace accel {

// Loads cuSOLVER once; needs no device. Fails with no_cuda_library.
Result<MathLibraryInfo> find_cusolver();

struct CusolverFunctions;

// cuSOLVER on the current stream of a device, for matrices of float32, float64, complex64 or complex128 in memory of the
// device whose columns follow each other without gaps. All functions queue work. They fail with out_of_device_memory,
// cuda_failed. `info`, an int, becomes the number from 1 of the first pivot that is 0 or not positive, or 0.
class Cusolver {
 public:
  Cusolver(CudaDevice& device, const CusolverFunctions& functions) : device_(device), call_(functions) {}
  // Must be called first. Requires the library's mutex, and that the device's context is current.
  Status begin();

  // Factors n x n elements in place, by Gaussian elimination with partial pivoting. `pivots`: n int64.
  Status factor_lu(DType dtype, int64_t n, char* matrix, char* pivots, char* info);
  // Replaces n x columns elements at `right` by the solutions.
  Status solve_lu(DType dtype, int64_t n, int64_t columns, const char* factors, const char* pivots, char* right, char* info);
  // Factors n x n elements in place; those above the diagonal are neither read nor written.
  Status factor_cholesky(DType dtype, int64_t n, char* matrix, char* info);

 private:
  // What one factorisation works in, until its work is done.
  struct Memory {
    size_t device_bytes = 0, host_bytes = 0;
    std::shared_ptr<DeviceBlock> on_device;
    std::vector<char> on_host;
    Status take(CudaDevice& device);
  };

  CudaDevice& device_;
  const CusolverFunctions& call_;
  void *handle_ = nullptr, *options_ = nullptr;
  std::vector<Memory> memories_;
};

// Calls `work` and waits for what it has queued: other threads have the library after that. Needs no GIL, and must not be
// called with it. Fails with no_cuda_library, too.
Status call_cusolver(CudaDevice& device, const std::function<Status(Cusolver&)>& work);

}  // namespace accel
