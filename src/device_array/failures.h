#pragma once
// Failures of devices as Python exceptions. Requires the GIL.

#include <Python.h>

#include <string>

#include "base/result.h"

namespace accel {

// Sets OutOfDeviceMemoryError or DeviceError of accel.errors. Returns null.
PyObject* raise_device_failure(const Failure& failure);
// Sets UnsupportedError: `what` has no form for device arrays. Returns null.
PyObject* raise_unsupported_on_device(Reason reason, const std::string& what, const std::string& way_out);

}  // namespace accel
