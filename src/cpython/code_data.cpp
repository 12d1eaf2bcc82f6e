#include "cpython/code_data.h"

namespace accel {
namespace {

#if PY_VERSION_HEX >= 0x030C0000
constexpr auto request_index = PyUnstable_Eval_RequestCodeExtraIndex;
constexpr auto get_extra = PyUnstable_Code_GetExtra;
constexpr auto set_extra = PyUnstable_Code_SetExtra;
#else
constexpr auto request_index = _PyEval_RequestCodeExtraIndex;
constexpr auto get_extra = _PyCode_GetExtra;
constexpr auto set_extra = _PyCode_SetExtra;
#endif

Py_ssize_t extra_index = -1;  // -1: not requested yet, or none is left

}  // namespace

void* code_data(PyCodeObject* code) {
  void* data = nullptr;
  if (extra_index < 0 || get_extra(reinterpret_cast<PyObject*>(code), extra_index, &data) == 0) return data;
  PyErr_Clear();
  return nullptr;
}

bool set_code_data(PyCodeObject* code, void* data, void (*release)(void*)) {
  if (extra_index < 0) extra_index = request_index(release);
  if (extra_index >= 0 && set_extra(reinterpret_cast<PyObject*>(code), extra_index, data) == 0) return true;
  PyErr_Clear();
  return false;
}

}  // namespace accel
