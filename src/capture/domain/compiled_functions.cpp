#include "capture/domain/compiled_functions.h"

namespace accel {

namespace {

PyTypeObject* compiled_type = nullptr;
Unwrap unwrap_compiled = nullptr;

}  // namespace

void set_compiled_functions(PyTypeObject* type, Unwrap unwrap) {
  compiled_type = type;
  unwrap_compiled = unwrap;
}

PyObject* unwrapped(PyObject* callable) { return unwrap_compiled != nullptr ? unwrap_compiled(callable) : nullptr; }

bool is_python_function(PyObject* object) {
  return PyFunction_Check(object) || (compiled_type != nullptr && Py_IS_TYPE(object, compiled_type));
}

}  // namespace accel
