#include "capture/domain/repr.h"

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

// A str that C code stores with an object: read through a getter of a C type, or from the object's dict. Runs no Python code.
// Empty if there is none.
std::string stored_name(PyObject* object, const char* attribute) {
  PyRef name = PyRef::steal(PyUnicode_InternFromString(attribute));
  if (!name) return PyErr_Clear(), "";
  PyObject* found = _PyType_Lookup(Py_TYPE(object), name.get());  // borrowed
  PyRef value;
  if (found != nullptr && (Py_IS_TYPE(found, &PyGetSetDescr_Type) || Py_IS_TYPE(found, &PyMemberDescr_Type))) {
    value = PyRef::steal(Py_TYPE(found)->tp_descr_get(found, object, reinterpret_cast<PyObject*>(Py_TYPE(object))));
    if (!value) PyErr_Clear();
  } else if (PyObject** dict = _PyObject_GetDictPtr(object); dict != nullptr && *dict != nullptr) {
    value = PyRef::borrow(PyDict_GetItemWithError(*dict, name.get()));
    if (!value) PyErr_Clear();
  }
  return value && PyUnicode_CheckExact(value.get()) ? utf8(value.get()) : "";
}

bool is_descriptor_of_c(PyObject* object) {
  return Py_IS_TYPE(object, &PyMethodDescr_Type) || Py_IS_TYPE(object, &PyClassMethodDescr_Type) ||
         Py_IS_TYPE(object, &PyWrapperDescr_Type) || Py_IS_TYPE(object, &PyGetSetDescr_Type) ||
         Py_IS_TYPE(object, &PyMemberDescr_Type);
}

// "list.append", "Generator.random", "numpy.where"; empty for objects that have no name.
std::string callable_name(PyObject* object) {
  if (is_descriptor_of_c(object)) return std::string(PyDescr_TYPE(object)->tp_name) + "." + utf8(PyDescr_NAME(object));
  if (PyMethod_Check(object)) return callable_name(PyMethod_GET_FUNCTION(object));
  if (PyFunction_Check(object)) return utf8(reinterpret_cast<PyFunctionObject*>(object)->func_qualname);
  if (Py_TYPE(object)->tp_call == nullptr) return "";
  std::string name = stored_name(object, "__qualname__");
  return name.empty() ? stored_name(object, "__name__") : name;
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
  std::string name = callable_name(object);
  return name.empty() ? "<" + type_name(object) + ">" : name;
}

}  // namespace accel
