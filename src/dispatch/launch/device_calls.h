#pragma once
// DeviceCalls: the calls of Python callables that a launch on a device makes. The callables get operands in memory of the host;
// arrays that they return are copied to the device. Requires the GIL, which is released while the host waits.

#include <memory>
#include <span>
#include <vector>

#include "capture/product/call_site.h"
#include "dispatch/calls/boxed_calls.h"
#include "dispatch/launch/argument_spans.h"
#include "runtime/cuda/device.h"

namespace accel {

class DeviceCalls {
 public:
  // `unchanged`: arguments that are NumPy's, of which the host and the device have the same elements while the run goes on. All
  // that the arguments refer to outlives this.
  DeviceCalls(std::span<const BoxedCall> sites, BoxedCalls& calls, CudaDevice& device, std::span<const ArgumentSpan> unchanged)
      : sites_(sites), calls_(calls), device_(device), unchanged_(unchanged) {}

  // AccelRuntime::call and receive, where memory of arrays is of the device. Status bits, or why the device failed.
  Result<int> call(int number, const void* const* operands, const int64_t* dims);
  Result<int> receive(int number, int result, void* memory, const int64_t* dims);

 private:
  Result<const void*> on_host(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides);

  std::span<const BoxedCall> sites_;
  BoxedCalls& calls_;
  CudaDevice& device_;
  std::span<const ArgumentSpan> unchanged_;
  std::vector<std::unique_ptr<char[]>> copies_;  // of the operands of the current call
};

}  // namespace accel
