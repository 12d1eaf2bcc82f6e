#pragma once
// DeviceKernels: the kernels of one entry, loaded on its device. Those that arrays of the sizes at capture do not need are
// compiled when one of them is launched.

#include <memory>
#include <mutex>
#include <vector>

#include "compile.h"
#include "runtime/cuda/device.h"

namespace accel {

class DeviceKernels {
 public:
  static Result<std::shared_ptr<const DeviceKernels>> load(CudaDevice& device, const DeviceCode& code);

  // In the current stream. `arguments`: pointers to the values of the kernel's parameters.
  Status launch(int kernel, const LaunchShape& shape, void** arguments) const;

 private:
  struct Module {
    std::vector<std::string> names;
    std::shared_ptr<const DeviceModule> loaded;
  };
  // Where a kernel is.
  struct Entry {
    bool is_likely = true;
    int number = 0;  // in its module
  };

  explicit DeviceKernels(CudaDevice& device) : device_(device) {}
  Status load_others() const;

  CudaDevice& device_;
  std::vector<Entry> entries_;
  Module likely_;
  std::string other_source_;
  mutable std::once_flag others_asked_;
  mutable Module others_;
  mutable Status others_status_ = Unit{};
};

}  // namespace accel
