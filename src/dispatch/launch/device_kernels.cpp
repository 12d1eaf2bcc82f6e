#include "dispatch/launch/device_kernels.h"

namespace accel {

Result<std::shared_ptr<const DeviceKernels>> DeviceKernels::load(CudaDevice& device, const DeviceCode& code) {
  std::shared_ptr<DeviceKernels> made(new DeviceKernels(device));
  made->other_source_ = code.other_source;
  std::vector<std::string> likely_names;
  for (const KernelName& kernel : code.kernels) {
    std::vector<std::string>& names = kernel.is_likely ? likely_names : made->other_names_;
    made->entries_.push_back({kernel.is_likely, static_cast<int>(names.size())});
    names.push_back(kernel.name);
  }
  if (!likely_names.empty()) {
    ACCEL_TRY(made->likely_, DeviceModule::load(device, code.cubin, likely_names));
  }
  return std::shared_ptr<const DeviceKernels>(std::move(made));
}

Status DeviceKernels::launch(int kernel, const LaunchShape& shape, void** arguments) const {
  const Entry& entry = entries_[static_cast<size_t>(kernel)];
  const DeviceModule* module = entry.is_likely ? likely_.get() : others_.loaded();
  if (module == nullptr) {
    ACCEL_TRY(module, others_.load(device_, other_source_, other_names_));
  }
  return module->launch(entry.number, shape, arguments);
}

}  // namespace accel
