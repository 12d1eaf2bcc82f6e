#pragma once
// numpy.bincount by kernels of a device.

#include "dispatch/launch/library/device_forms.h"

namespace accel {

// As run_form. Nothing where NumPy raises. Sums of weights depend on the elements and their number alone, not on when a block
// runs.
Result<std::optional<DeviceResult>> count_on_device(CudaDevice& device, const CountForm& form,
                                                    std::span<const FormOperand> operands);

}  // namespace accel
