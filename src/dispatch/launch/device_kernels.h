#pragma once
// DeviceKernels: the kernels of one entry, loaded on its device. Those that arrays of the sizes at capture do not need are
// compiled when one of them is launched.

#include <memory>
#include <string>
#include <vector>

#include "compile.h"
#include "dispatch/launch/library/lazy_module.h"
#include "runtime/cuda/device.h"

namespace accel {

class DeviceKernels {
 public:
  static Result<std::shared_ptr<const DeviceKernels>> load(CudaDevice& device, const DeviceCode& code);

  // In the current stream. `arguments`: pointers to the values of the kernel's parameters.
  Status launch(int kernel, const LaunchShape& shape, void** arguments) const;

 private:
  // Where a kernel is.
  struct Entry {
    bool is_likely = true;
    int number = 0;  // in its module
  };

  explicit DeviceKernels(CudaDevice& device) : device_(device) {}

  CudaDevice& device_;
  std::vector<Entry> entries_;
  std::shared_ptr<const DeviceModule> likely_;
  std::string other_source_;
  std::vector<std::string> other_names_;
  mutable LazyModule others_;
};

}  // namespace accel
