#pragma once
// The kernels of a device text of codegen/library_texts.h, compiled and loaded when they are first needed.

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "codegen/library_texts.h"
#include "dispatch/launch/library/lazy_module.h"
#include "runtime/cuda/device.h"

namespace accel {

class TextKernels {
 public:
  TextKernels(CudaDevice& device, DType dtype) : device(device), dtype(dtype) {}

  CudaDevice& device;
  const DType dtype;

  // `text`: a function of library_texts.h, the same in each call.
  Result<const DeviceModule*> load(LibraryText (*text)(DType)) {
    if (const DeviceModule* loaded = module_.loaded()) return loaded;
    const LibraryText made = text(dtype);
    return module_.load(device, made.source, made.kernels);
  }

 private:
  LazyModule module_;
};

// By device and dtype; never destroyed.
class TextKernelCache {
 public:
  TextKernels& of(CudaDevice& device, DType dtype) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<TextKernels>& found = all_[{&device, dtype}];
    if (!found) found = std::make_unique<TextKernels>(device, dtype);
    return *found;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CudaDevice*, DType>, std::unique_ptr<TextKernels>> all_;
};

}  // namespace accel
