#include "dispatch/launch/device_kernels.h"

#include "toolchain/device_code.h"

namespace accel {

Result<std::shared_ptr<const DeviceKernels>> DeviceKernels::load(CudaDevice& device, const DeviceCode& code) {
  std::shared_ptr<DeviceKernels> made(new DeviceKernels(device));
  made->other_source_ = code.other_source;
  for (const KernelName& kernel : code.kernels) {
    Module& module = kernel.is_likely ? made->likely_ : made->others_;
    made->entries_.push_back({kernel.is_likely, static_cast<int>(module.names.size())});
    module.names.push_back(kernel.name);
  }
  if (!made->likely_.names.empty()) {
    ACCEL_TRY(made->likely_.loaded, DeviceModule::load(device, code.cubin, made->likely_.names));
  }
  return std::shared_ptr<const DeviceKernels>(std::move(made));
}

Status DeviceKernels::load_others() const {
  ACCEL_TRY(std::string cubin, compile_device_code(other_source_, device_.architecture()));
  ACCEL_TRY(others_.loaded, DeviceModule::load(device_, cubin, others_.names));
  return Unit{};
}

Status DeviceKernels::launch(int kernel, const LaunchShape& shape, void** arguments) const {
  const Entry& entry = entries_[static_cast<size_t>(kernel)];
  if (entry.is_likely) return likely_.loaded->launch(entry.number, shape, arguments);
  std::call_once(others_asked_, [&] { others_status_ = load_others(); });
  if (!others_status_.ok()) return others_status_.failure();
  return others_.loaded->launch(entry.number, shape, arguments);
}

}  // namespace accel
