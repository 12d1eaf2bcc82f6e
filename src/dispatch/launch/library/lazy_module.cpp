#include "dispatch/launch/library/lazy_module.h"

#include <utility>

#include "dispatch/signals/interrupt.h"
#include "toolchain/device_code.h"

namespace accel {

// Threads that come at once share a compile; each loads the CUBIN, and the first one's module stays.
Result<const DeviceModule*> LazyModule::load(CudaDevice& device, const std::string& source,
                                             const std::vector<std::string>& kernels) {
  {
    std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
  }
  using Loaded = Result<std::shared_ptr<const DeviceModule>>;
  Loaded made = without_gil([&]() -> Loaded {
    ACCEL_TRY(std::string cubin, compile_device_code(source, device.architecture()));
    return DeviceModule::load(device, cubin, kernels);
  });
  std::lock_guard lock(mutex_);
  if (!made.ok()) {
    if (made.failure().reason != Reason::interrupted) failure_ = made.failure();
    return made.failure();
  }
  if (!module_) module_ = *made;
  loaded_.store(module_.get(), std::memory_order_release);
  return const_cast<const DeviceModule*>(module_.get());
}

}  // namespace accel
