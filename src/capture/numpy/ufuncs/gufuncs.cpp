#include "capture/numpy/ufuncs/gufuncs.h"

namespace accel {

std::string text_attribute(PyObject* object, const char* name) {
  PyRef found = PyRef::steal(PyObject_GetAttrString(object, name));
  PyErr_Clear();
  return found && PyUnicode_Check(found.get()) ? utf8(found.get()) : std::string();
}

std::set<PyObject*> gufuncs_of(const char* module_name) {
  std::set<PyObject*> out;
  PyRef module = PyRef::steal(PyImport_ImportModule(module_name));
  PyObject *name = nullptr, *value = nullptr;
  if (!module) PyErr_Clear();
  for (Py_ssize_t at = 0; module && PyDict_Next(PyModule_GetDict(module.get()), &at, &name, &value);) {
    if (!text_attribute(value, "signature").empty()) out.insert(PyRef::borrow(value).release());
  }
  return out;
}

}  // namespace accel
