#pragma once
// accel's values as Python objects.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/reasons.h"
#include "base/settings.h"
#include "dispatch/reports/python_errors.h"

namespace accel {

namespace py = pybind11;

py::object to_python(const SettingValue& value);
// The value in the setting's type; nullopt when the object has another type.
std::optional<SettingValue> to_setting(SettingType type, py::handle object);

py::dict to_python(const Fallback& fallback);

// What a function without arguments of a module of accel's returns: a list of texts. Any thread, without the GIL. Empty when it
// raises; an interrupt is raised later.
std::vector<std::string> call_for_texts(const char* module, const char* function);

}  // namespace accel
