#include "capture/python_text.h"

#include "cpython/py_ref.h"

namespace accel {

namespace {

constexpr size_t longest = 60;

bool prints_safely(PyObject* object) {
  return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) || PyLong_CheckExact(object) ||
         PyFloat_CheckExact(object) || PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) ||
         PyBytes_CheckExact(object);
}

std::string quoted(PyRef text) {
  if (!text) {
    PyErr_Clear();
    return "?";
  }
  std::string out = utf8(text.get());
  if (out.size() > longest) out = out.substr(0, longest) + "...";
  return out;
}

}  // namespace

std::string utf8(PyObject* text) {
  if (text == nullptr || !PyUnicode_Check(text)) return "?";
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return {data, static_cast<size_t>(size)};
}

std::string type_name(PyObject* object) { return object == nullptr ? "NULL" : Py_TYPE(object)->tp_name; }

std::string short_repr(PyObject* object) {
  if (object == nullptr) return "NULL";
  if (prints_safely(object)) return quoted(PyRef::steal(PyObject_Repr(object)));
  if (PyType_Check(object)) return reinterpret_cast<PyTypeObject*>(object)->tp_name;
  if (PyFunction_Check(object)) return utf8(reinterpret_cast<PyFunctionObject*>(object)->func_qualname);
  if (PyCFunction_Check(object)) return reinterpret_cast<PyCFunctionObject*>(object)->m_ml->ml_name;
  if (PyModule_CheckExact(object)) {
    const char* name = PyModule_GetName(object);
    if (name == nullptr) PyErr_Clear();
    return std::string("module ") + (name == nullptr ? "?" : name);
  }
  return "<" + type_name(object) + ">";
}

}  // namespace accel
