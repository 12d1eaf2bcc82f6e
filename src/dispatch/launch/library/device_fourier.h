#pragma once
// The gufuncs of numpy.fft on a device, by cuFFT where it is installed.

#include "dispatch/launch/library/device_forms.h"

namespace accel {

// As run_form. `result`: the type of the call's result. Nothing without the library.
Result<std::optional<DeviceResult>> transform_on_device(CudaDevice& device, const FourierForm& form,
                                                        std::span<const FormOperand> operands, const Type& result);

}  // namespace accel
