#include "device_array/device_functions.h"

#include <utility>

#include "cpython/py_ref.h"

namespace accel {
namespace {

thread_local bool is_inside = false;

}  // namespace

PyObject* call_device_function(const char* name, std::initializer_list<PyObject*> arguments) {
  static PyObject* module = nullptr;  // imported once
  if (module == nullptr) module = PyImport_ImportModule("accel._device_functions");
  PyRef function = PyRef::steal(module != nullptr ? PyObject_GetAttrString(module, name) : nullptr);
  return function ? PyObject_Vectorcall(function.get(), arguments.begin(), arguments.size(), nullptr) : nullptr;
}

PyObject* run_device_function(PyObject* compiled, std::span<PyObject* const> operands) {
  const bool was_inside = std::exchange(is_inside, true);
  PyObject* result = PyObject_Vectorcall(compiled, operands.data(), operands.size(), nullptr);
  is_inside = was_inside;
  return result;
}

bool is_in_device_function() { return is_inside; }

}  // namespace accel
