#include "device_array/failures.h"

#include "cpython/py_ref.h"

namespace accel {
namespace {

PyRef error_class(const char* name) {
  PyRef module = PyRef::steal(PyImport_ImportModule("accel.errors"));
  return module ? PyRef::steal(PyObject_GetAttrString(module.get(), name)) : PyRef();
}

}  // namespace

PyObject* raise_device_failure(const Failure& failure) {
  const ReasonInfo& info = reason_info(failure.reason);
  std::string text = std::string(info.what);
  if (!failure.detail.empty()) text += ": " + failure.detail;
  text += std::string(" (") + info.code + ")\n  way out: " + info.way_out;
  PyRef type = error_class(failure.reason == Reason::out_of_device_memory ? "OutOfDeviceMemoryError" : "DeviceError");
  if (type) PyErr_SetString(type.get(), text.c_str());
  return nullptr;
}

PyObject* raise_unsupported_on_device(Reason reason, const std::string& what, const std::string& way_out) {
  const char* code = reason_info(reason).code;
  std::string text = what + " (" + code + ")\n  way out: " + way_out;
  PyRef type = error_class("UnsupportedError");
  PyRef error = PyRef::steal(type ? PyObject_CallFunction(type.get(), "ss", text.c_str(), code) : nullptr);
  if (error) PyErr_SetObject(type.get(), error.get());
  return nullptr;
}

}  // namespace accel
