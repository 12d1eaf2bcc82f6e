#pragma once
// Weak references to objects.

#include <Python.h>

namespace accel {

// Requires the GIL.
inline bool has_weak_reference(PyObject* object) {
  return PyType_SUPPORTS_WEAKREFS(Py_TYPE(object)) && *PyObject_GET_WEAKREFS_LISTPTR(object) != nullptr;
}

}  // namespace accel
