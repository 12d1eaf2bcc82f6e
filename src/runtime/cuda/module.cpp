// DeviceModule: kernels of a CUBIN, and their launch.

#include <atomic>
#include <mutex>
#include <optional>

#include "runtime/cuda/device_parts.h"

namespace accel {
namespace {

constexpr int usual_shared_bytes = 48 << 10;  // dynamic shared memory that needs no permission
constexpr int attribute_dynamic_shared = 8;   // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

}  // namespace

struct DeviceModule::Kernel {
  CudaFunction function = nullptr;
  std::atomic<int> allowed_shared_bytes{usual_shared_bytes};
  std::once_flag layout_asked;
  std::optional<ParameterLayout> layout;  // once it was asked for, if the driver tells it
};

DeviceModule::DeviceModule(CudaDevice& device, void* handle) : device_(device), handle_(handle) {}

Result<std::shared_ptr<const DeviceModule>> DeviceModule::load(CudaDevice& device, const std::string& cubin,
                                                               const std::vector<std::string>& kernels) {
  const CudaContext& context = device.parts_->context;
  ActiveContext active(context);
  if (!active.ok()) return active.failure();
  CudaModule handle = nullptr;
  ACCEL_CUDA(*context.driver, cuModuleLoadData, &handle, cubin.data());
  std::shared_ptr<DeviceModule> module(new DeviceModule(device, handle));
  ACCEL_TRY([[maybe_unused]] Unit found, module->find_kernels(kernels));
  return std::shared_ptr<const DeviceModule>(std::move(module));
}

Status DeviceModule::find_kernels(const std::vector<std::string>& names) {
  kernels_ = std::make_unique<Kernel[]>(names.size());
  for (const auto& name : names) {
    int result = device_.parts_->context.driver->cuModuleGetFunction(&kernels_[kernel_count_].function, handle_, name.c_str());
    if (result == 0) {
      kernel_count_++;
      continue;
    }
    Failure failure = cuda_failure("cuModuleGetFunction", result);
    failure.detail += " for " + name;
    return failure;
  }
  return Unit{};
}

DeviceModule::~DeviceModule() {
  const CudaContext& context = device_.parts_->context;
  ActiveContext active(context);
  if (!active.ok()) return;
  context.driver->cuCtxSynchronize();  // its kernels may be running
  context.driver->cuModuleUnload(handle_);
}

Status DeviceModule::launch(int kernel, const LaunchShape& shape, void** arguments) const {
  if (shape.blocks == 0) return Unit{};
  auto& parts = *device_.parts_;
  ActiveContext active(parts.context);
  if (!active.ok()) return active.failure();
  const CudaDriver& driver = *parts.context.driver;
  Kernel& launched = kernels_[kernel];
  if (shape.shared_bytes > launched.allowed_shared_bytes.load(std::memory_order_relaxed)) {
    ACCEL_TRY([[maybe_unused]] Unit allowed, allow_shared_bytes(launched, shape.shared_bytes));
  }
  if (LaunchBatch* batch = parts.batch(); batch != nullptr && batch->stream() == parts.stream()) {
    if (const ParameterLayout* layout = layout_of(launched)) return batch->add(launched.function, *layout, shape, arguments);
    ACCEL_TRY([[maybe_unused]] Unit submitted, batch->submit());
  }
  ACCEL_CUDA(driver, cuLaunchKernel, launched.function, static_cast<unsigned>(shape.blocks), 1, 1,
             static_cast<unsigned>(shape.threads), 1, 1, static_cast<unsigned>(shape.shared_bytes), parts.stream(), arguments,
             nullptr);
  parts.launch_counters.launches.fetch_add(1, std::memory_order_relaxed);
  return Unit{};
}

// Null when the driver does not tell it.
const ParameterLayout* DeviceModule::layout_of(Kernel& kernel) const {
  std::call_once(kernel.layout_asked, [&] {
    auto found = read_layout(*device_.parts_->context.driver, kernel.function);
    if (found.ok()) kernel.layout = std::move(found).value();
  });
  return kernel.layout ? &*kernel.layout : nullptr;
}

Status DeviceModule::allow_shared_bytes(Kernel& kernel, int bytes) const {
  ACCEL_CUDA(*device_.parts_->context.driver, cuFuncSetAttribute, kernel.function, attribute_dynamic_shared, bytes);
  kernel.allowed_shared_bytes.store(bytes, std::memory_order_relaxed);
  return Unit{};
}

}  // namespace accel
