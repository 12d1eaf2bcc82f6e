#pragma once
// ndarray.searchsorted by kernels of a device.

#include "dispatch/launch/library/device_forms.h"

namespace accel {

// As run_form. Nothing where the array is not sorted.
Result<std::optional<DeviceResult>> search_on_device(CudaDevice& device, const SearchForm& form,
                                                     std::span<const FormOperand> operands);

}  // namespace accel
