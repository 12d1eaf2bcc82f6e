#include "guard/fetch.h"

#include <structmember.h>

#include <cstring>

namespace accel {
namespace {

// Borrowed; null without an exception.
PyObject* dict_get(PyObject* dict, PyObject* key) {
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (found == nullptr && PyErr_Occurred()) PyErr_Clear();
  return found;
}

struct FunctionPart {
  const char* name;
  PyObject* PyFunctionObject::* part;
};

constexpr FunctionPart function_parts[] = {
    {"__code__", &PyFunctionObject::func_code},
    {"__defaults__", &PyFunctionObject::func_defaults},
    {"__kwdefaults__", &PyFunctionObject::func_kwdefaults},
    {"__closure__", &PyFunctionObject::func_closure},
    {"__globals__", &PyFunctionObject::func_globals},
    {"__dict__", &PyFunctionObject::func_dict},
    {"__name__", &PyFunctionObject::func_name},
    {"__qualname__", &PyFunctionObject::func_qualname},
    {"__doc__", &PyFunctionObject::func_doc},
    {"__module__", &PyFunctionObject::func_module},
};

// The value of a slot (__slots__), null when `descriptor` is none or the slot is empty.
PyObject* slot_value(PyObject* object, PyObject* descriptor) {
  const PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
  if (member->type != T_OBJECT_EX && member->type != T_OBJECT) return nullptr;
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
}

// Class attributes whose __get__ is CPython's own: the generic lookup runs no Python code.
bool binds_natively(PyObject* attribute) {
  PyTypeObject* type = Py_TYPE(attribute);
  return type->tp_descr_get == nullptr || type == &PyStaticMethod_Type || type == &PyClassMethod_Type ||
         PyType_HasFeature(type,
                           Py_TPFLAGS_METHOD_DESCRIPTOR);  // functions, compiled ones, C methods: no Python type inherits it
}

// The value in the object's own dict; borrowed from there. `inherited`: what its class has under the name, or null.
PyObject* own_value(PyObject* object, PyObject* name, PyObject* inherited) {
  if (inherited != nullptr && !binds_natively(inherited)) {
    PyObject** dict = _PyObject_GetDictPtr(object);
    return dict != nullptr && *dict != nullptr ? dict_get(*dict, name) : nullptr;
  }
  PyRef found = PyRef::steal(_PyObject_GenericGetAttrWithDict(object, name, nullptr, 1));
  if (PyErr_Occurred()) PyErr_Clear();
  if (!found || found.get() == inherited) return nullptr;
  bool bound_here = inherited != nullptr && Py_TYPE(inherited)->tp_descr_get != nullptr && Py_REFCNT(found.get()) == 1;
  return bound_here ? nullptr : found.get();
}

PyObject* instance_attribute(PyObject* object, PyObject* name) {
  if (Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr) return nullptr;
  PyObject* inherited = _PyType_Lookup(Py_TYPE(object), name);
  if (inherited != nullptr && Py_TYPE(inherited)->tp_descr_set != nullptr) {
    return Py_IS_TYPE(inherited, &PyMemberDescr_Type) ? slot_value(object, inherited) : inherited;
  }
  PyObject* own = own_value(object, name, inherited);
  return own != nullptr ? own : inherited;
}

PyObject* class_attribute(PyTypeObject* type, PyObject* name) {
  return PyUnicode_CompareWithASCIIString(name, "__mro__") == 0 ? type->tp_mro : _PyType_Lookup(type, name);
}

PyObject* method_part(PyObject* method, PyObject* name) {
  if (PyUnicode_CompareWithASCIIString(name, "__func__") == 0) return PyMethod_GET_FUNCTION(method);
  return PyUnicode_CompareWithASCIIString(name, "__self__") == 0 ? PyMethod_GET_SELF(method) : nullptr;
}

// The descriptor that the class has under the name, if it is of the C function of `method`.
PyObject* builtin_method_part(PyObject* method, PyObject* name) {
  PyObject* self = PyCFunction_GET_SELF(method);
  if (self == nullptr || PyUnicode_CompareWithASCIIString(name, "__self__") == 0) return self;
  if (PyUnicode_CompareWithASCIIString(name, "__func__") != 0) return nullptr;
  const PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(method)->m_ml;
  PyRef key = PyRef::steal(PyUnicode_InternFromString(definition->ml_name));
  PyObject* found = key ? _PyType_Lookup(Py_TYPE(self), key.get()) : nullptr;
  if (PyErr_Occurred()) PyErr_Clear();
  bool same = found != nullptr && Py_IS_TYPE(found, &PyMethodDescr_Type) &&
              reinterpret_cast<PyMethodDescrObject*>(found)->d_method == definition;
  return same ? found : nullptr;
}

PyObject* closure_cell(PyObject* function, int index) {
  PyObject* closure = PyFunction_GetClosure(function);
  return closure != nullptr ? fetch_item(closure, index) : nullptr;
}

}  // namespace

PyObject* const* function_part(PyObject* function, PyObject* name) {
  for (const FunctionPart& part : function_parts) {
    if (PyUnicode_CompareWithASCIIString(name, part.name) != 0) continue;
    return &(reinterpret_cast<PyFunctionObject*>(function)->*part.part);
  }
  return nullptr;
}

PyObject* fetch_attribute(PyObject* parent, PyObject* name) {
  if (PyModule_CheckExact(parent)) return dict_get(PyModule_GetDict(parent), name);
  if (PyFunction_Check(parent)) {
    if (PyObject* const* part = function_part(parent, name)) return *part != nullptr ? *part : Py_None;
  }
  if (PyMethod_Check(parent)) return method_part(parent, name);
  if (PyCFunction_Check(parent)) return builtin_method_part(parent, name);
  if (PyType_Check(parent)) return class_attribute(reinterpret_cast<PyTypeObject*>(parent), name);
  return instance_attribute(parent, name);
}

PyObject* fetch_item(PyObject* parent, int64_t index) {
  bool is_tuple = PyTuple_Check(parent);  // named tuples too: types have guards of their own
  if (!is_tuple && !PyList_CheckExact(parent)) return nullptr;
  if (index < 0 || index >= Py_SIZE(parent)) return nullptr;
  return is_tuple ? PyTuple_GET_ITEM(parent, index) : PyList_GET_ITEM(parent, index);
}

PyObject* fetch_dict_item(PyObject* parent, PyObject* key) {
  return PyDict_CheckExact(parent) ? dict_get(parent, key) : nullptr;
}

PyObject* fetch_from(const Source& source, PyObject* parent, PyObject* function, PyObject* const* locals) {
  if (source.parent >= 0 && parent == nullptr) return nullptr;
  switch (source.kind) {
    case SourceKind::local:
      return locals[source.index];
    case SourceKind::global:
      return dict_get(source.dict.get(), source.name.get());
    case SourceKind::pinned:
      return source.dict.get();
    case SourceKind::attribute:
      return fetch_attribute(parent, source.name.get());
    case SourceKind::item:
      return fetch_item(parent, source.index);
    case SourceKind::dict_item:
      return fetch_dict_item(parent, source.name.get());
    case SourceKind::cell: {
      PyObject* cell = source.dict ? source.dict.get() : parent != nullptr ? parent : closure_cell(function, source.index);
      return cell != nullptr && PyCell_Check(cell) ? PyCell_GET(cell) : nullptr;
    }
  }
  return nullptr;
}

PyObject* fetch_source(const std::vector<Source>& sources, SourceId id, PyObject* function, PyObject* const* locals) {
  const Source& source = sources[id];
  PyObject* parent = source.parent >= 0 ? fetch_source(sources, source.parent, function, locals) : nullptr;
  return fetch_from(source, parent, function, locals);
}

}  // namespace accel
