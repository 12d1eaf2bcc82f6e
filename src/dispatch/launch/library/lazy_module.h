#pragma once
// A CUBIN that is compiled and loaded when one of its kernels is first needed.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/device.h"

namespace accel {

class LazyModule {
 public:
  // Null before load().
  const DeviceModule* loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Without the GIL while it compiles. Fails at once where it has failed before, except by an interrupt. The arguments are the
  // same in each call.
  Result<const DeviceModule*> load(CudaDevice& device, const std::string& source, const std::vector<std::string>& kernels);

 private:
  std::mutex mutex_;  // not held while anything is compiled: that may need the GIL, which a thread that waits may have
  std::shared_ptr<const DeviceModule> module_;
  std::optional<Failure> failure_;
  std::atomic<const DeviceModule*> loaded_{nullptr};
};

}  // namespace accel
