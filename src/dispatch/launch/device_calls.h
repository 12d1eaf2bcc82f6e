#pragma once
// DeviceCalls: the calls of Python callables that a launch on a device makes. Those with a DeviceForm are computed there. Other
// callables get operands in memory of the host; arrays that they return are copied to the device. Requires the GIL, which is
// released while the host waits.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/product/call_site.h"
#include "dispatch/calls/boxed_calls.h"
#include "dispatch/launch/argument_spans.h"
#include "dispatch/launch/library/device_forms.h"
#include "runtime/cuda/device.h"

namespace accel {

class DeviceCalls {
 public:
  // `unchanged`: NumPy's arguments with their copies on the device, if the run stores to none of them; else none. All that the
  // arguments refer to outlives this.
  DeviceCalls(std::span<const BoxedCall> sites, BoxedCalls& calls, CudaDevice& device, std::span<const ArgumentSpan> unchanged)
      : sites_(sites), calls_(calls), device_(device), unchanged_(unchanged) {}

  // AccelRuntime::call, extent and receive, where memory of arrays is of the device. Status bits, or why the device failed.
  Result<int> call(int number, const void* const* operands, const int64_t* dims);
  int64_t extent(int number, int result, int axis) const;
  Result<int> receive(int number, int result, void* memory, const int64_t* dims);
  // The memory of a result that was computed on the device, which is not received any more; null for others.
  std::shared_ptr<DeviceBlock> take_computed(int number);

 private:
  Result<int> receive_computed(const DeviceResult& computed, const Type& type, void* memory, const int64_t* dims);
  Result<int> call_on_host(int number, const void* const* operands, const int64_t* dims);
  Result<bool> is_awaited_number(const Type& type, const void* memory);
  Result<const void*> on_host(const Type& type, const void* memory, const int64_t* dims, const int64_t* strides);

  std::span<const BoxedCall> sites_;
  BoxedCalls& calls_;
  CudaDevice& device_;
  std::span<const ArgumentSpan> unchanged_;
  std::vector<std::unique_ptr<char[]>> copies_;  // of the operands of the current call
  std::map<int, DeviceResult> computed_;         // by call: the result, where the last call was computed on the device
};

}  // namespace accel
