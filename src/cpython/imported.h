#pragma once
// Attributes of modules that accel knows by name.

#include "cpython/py_ref.h"

namespace accel {

// An attribute of a module, which is imported if need be. Null, without an exception, when there is none.
inline PyRef imported_attribute(const char* module, const char* name) {
  PyRef imported = PyRef::steal(PyImport_ImportModule(module));
  PyRef found = PyRef::steal(imported ? PyObject_GetAttrString(imported.get(), name) : nullptr);
  if (!found) PyErr_Clear();
  return found;
}

}  // namespace accel
