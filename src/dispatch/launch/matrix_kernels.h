#pragma once
// The kernels of a device text of codegen/matrix_texts.h, compiled and loaded when they are first needed.

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "codegen/matrix_texts.h"
#include "runtime/cuda/device.h"
#include "toolchain/device_code.h"

namespace accel {

class MatrixKernels {
 public:
  MatrixKernels(CudaDevice& device, DType dtype) : device(device), dtype(dtype) {}

  CudaDevice& device;
  const DType dtype;

  // `text`: product_text or solver_text, the same in each call.
  Result<const DeviceModule*> load(MatrixText (*text)(DType)) {
    std::call_once(asked_, [&] { status_ = compile(text(dtype)); });
    if (!status_.ok()) return status_.failure();
    return const_cast<const DeviceModule*>(module_.get());
  }

 private:
  Status compile(const MatrixText& text) {
    ACCEL_TRY(std::string cubin, compile_device_code(text.source, device.architecture()));
    ACCEL_TRY(module_, DeviceModule::load(device, cubin, text.kernels));
    return Unit{};
  }

  std::once_flag asked_;
  Status status_ = Unit{};
  std::shared_ptr<const DeviceModule> module_;
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
