#pragma once
// Calls of ndarray.sort and ndarray.argsort that kernels of a device make.

#include <cstdint>
#include <memory>
#include <optional>

#include "capture/product/call_site.h"
#include "runtime/cuda/device.h"

namespace accel {

struct DeviceSort {
  int axis = 0;
  bool gives_positions = false;  // argsort
  bool is_stable = false;        // else NumPy leaves the order of equal elements open: it has one of its own
};

// Nothing for a call of another function, and for arguments that only NumPy judges.
std::optional<DeviceSort> device_sort_of(const BoxedCall& call);

// Sorts an array on a device, `dims` and `strides` (bytes) of which are those of the operand. The result is dense, in the order
// of the call's result. Null where NumPy's result depends on its order of equal elements. Requires the GIL, which is released
// while the host waits and while kernels are compiled.
Result<std::shared_ptr<DeviceBlock>> sort_on_device(CudaDevice& device, const DeviceSort& sort, const BoxedCall& call,
                                                    const void* operand, const int64_t* dims, const int64_t* strides);

}  // namespace accel
