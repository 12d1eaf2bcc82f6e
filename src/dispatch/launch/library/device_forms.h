#pragma once
// Calls of NumPy's functions that kernels of a device make (DeviceForm).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/product/call_site.h"
#include "device_array/device_array.h"
#include "runtime/cuda/device.h"

namespace accel {

// The only result of a call: dense, in the order of the call's result.
struct DeviceResult {
  std::shared_ptr<DeviceBlock> block;
  std::vector<int64_t> shape;
};

// An operand: an array in memory of the device, a number in memory of the host, and an array without axes in either.
struct FormOperand {
  const Type* type = nullptr;
  char* data = nullptr;
  std::span<const int64_t> dims, strides;  // bytes
};

// The operands of a call as kernels pass them (AccelRuntime::call).
std::vector<FormOperand> form_operands(const BoxedCall& call, const void* const* operands, const int64_t* dims);

// Nothing for a call without a form, and where NumPy alone can say what the result is: where it raises, and where its order of
// equal elements shows. Requires the GIL, which is released while the host waits and while kernels are compiled.
Result<std::optional<DeviceResult>> run_form(CudaDevice& device, const BoxedCall& call, std::span<const FormOperand> operands);

}  // namespace accel
