#pragma once
// The kernels of a device text of codegen/matrix_texts.h, compiled and loaded when they are first needed.

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "codegen/matrix_texts.h"
#include "dispatch/launch/lazy_module.h"
#include "runtime/cuda/device.h"

namespace accel {

class MatrixKernels {
 public:
  MatrixKernels(CudaDevice& device, DType dtype) : device(device), dtype(dtype) {}

  CudaDevice& device;
  const DType dtype;

  // `text`: product_text or solver_text, the same in each call.
  Result<const DeviceModule*> load(MatrixText (*text)(DType)) {
    if (const DeviceModule* loaded = module_.loaded()) return loaded;
    const MatrixText made = text(dtype);
    return module_.load(device, made.source, made.kernels);
  }

 private:
  LazyModule module_;
};

// By device and dtype; never destroyed.
class MatrixKernelCache {
 public:
  MatrixKernels& of(CudaDevice& device, DType dtype) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<MatrixKernels>& found = all_[{&device, dtype}];
    if (!found) found = std::make_unique<MatrixKernels>(device, dtype);
    return *found;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CudaDevice*, DType>, std::unique_ptr<MatrixKernels>> all_;
};

}  // namespace accel
