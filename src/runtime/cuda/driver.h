#pragma once
// The CUDA driver's functions, found in its library when they are first needed. accel is neither compiled nor linked with CUDA.

#include <cstddef>

#include "base/result.h"
#include "runtime/cuda/device.h"

namespace accel {

// Handles of the driver.
using CudaContextHandle = void*;
using CudaEvent = void*;
using CudaModule = void*;
using CudaFunction = void*;
using CudaGraph = void*;
using CudaGraphNode = void*;
using CudaExecutableGraph = void*;

// CUDA_KERNEL_NODE_PARAMS of cuda.h: a launch of a kernel. `arguments`: pointers to the values of its parameters.
struct CudaKernelNode {
  CudaFunction function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1, shared_bytes = 0;
  void **arguments = nullptr, **extra = nullptr;
  void* kernel = nullptr;               // in place of `function`
  CudaContextHandle context = nullptr;  // of `kernel`
};

// Results and constants of cuda.h that accel names.
constexpr int cuda_out_of_memory = 2, cuda_not_initialized = 3, cuda_stub_library = 34, cuda_no_device = 100;
constexpr int cuda_invalid_device = 101, cuda_not_ready = 600;

// Addresses of the driver's functions.
struct CudaDriver {
#define CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters = nullptr;
#define CUDA_LATER_FUNCTION CUDA_FUNCTION
#include "runtime/cuda/driver.inc"

  // Whether it has the later functions.
  bool has_graphs() const;
};

// Loads the library and initialises CUDA when it is first called. Fails with no_cuda_driver, no_cuda_device or cuda_failed.
Result<const CudaDriver*> cuda_driver();
// The version of CUDA that the driver supports, 13000 for 13.0.
Result<int> cuda_driver_version();

// Whether this process is the child of a fork that came after CUDA was initialised: CUDA does not work in it.
bool in_child_without_cuda();

// What a result other than 0 means. `function` is the one that gave it.
Failure cuda_failure(const char* function, int result);

// Calls a function of the driver; returns its Failure from the enclosing function.
#define ACCEL_CUDA(driver, function, ...) \
  if (int cuda_result = (driver).function(__VA_ARGS__)) return cuda_failure(#function, cuda_result)

}  // namespace accel
