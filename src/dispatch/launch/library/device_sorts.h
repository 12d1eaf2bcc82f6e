#pragma once
// ndarray.sort and ndarray.argsort by kernels of a device.

#include "dispatch/launch/library/device_forms.h"

namespace accel {

// As run_form. The array is dense, in the order of type `result`. Nothing where NumPy's result depends on its order of equal
// elements.
Result<std::optional<DeviceResult>> sort_on_device(CudaDevice& device, const SortForm& form, const FormOperand& operand,
                                                   const Type& result);

}  // namespace accel
