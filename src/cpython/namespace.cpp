#include "cpython/namespace.h"

#include <cstdint>

namespace accel {
namespace {

// Null while the values are stored inline in the object. CPython's MANAGED_DICT_OFFSET is the same in all versions (with the
// GIL).
PyObject* managed_dict(PyObject* object) {
  PyObject* dict = reinterpret_cast<PyObject**>(object)[-3];
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
  if ((reinterpret_cast<uintptr_t>(dict) & 1) != 0) return nullptr;  // _PyDictOrValues_IsValues
#endif
  return dict;
}

PyObject* own_dict(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type->tp_dictoffset == 0) return nullptr;
  // _PyObject_GetDictPtr would make a dict of inline values.
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT)) return managed_dict(object);
  PyObject** slot = _PyObject_GetDictPtr(object);
  return slot != nullptr ? *slot : nullptr;
}

}  // namespace

bool may_share_names(PyTypeObject* type) { return type == &PyDict_Type || type->tp_dictoffset != 0; }

PyObject* namespace_of(PyObject* object) {
  if (PyDict_CheckExact(object)) return object;
  PyObject* dict = own_dict(object);
  return dict != nullptr ? dict : object;
}

}  // namespace accel
