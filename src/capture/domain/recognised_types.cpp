#include "capture/domain/recognised_types.h"

#include <unordered_set>

#include "capture/domain/repr.h"
#include "cpython/imported.h"
#include "cpython/py_ref.h"
#include "ndarray/array.h"

namespace accel {

namespace {

PyTypeObject* find_type(const char* module_name, const char* name) {
  PyObject* type = imported_attribute(module_name, name).release();
  return type != nullptr && PyType_Check(type) ? reinterpret_cast<PyTypeObject*>(type) : nullptr;
}

// Whether the class belongs to a library whose classes nobody assigns to.
bool is_library_class(PyTypeObject* type) {
  PyRef module = PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  if (!module) PyErr_Clear();
  std::string name = module && PyUnicode_Check(module.get()) ? utf8(module.get()) : std::string();
  return name == "numpy" || name.rfind("numpy.", 0) == 0 || name == "contextlib" || name == "functools" || name == "numbers" ||
         name == "collections.abc";
}

// Tests the leaves of nested Python constants. Visits each tuple or list once, even if it is shared, and fails where they are
// nested too deeply.
class ConstantWalk {
 public:
  using Test = bool (*)(PyObject*);
  // Tests the leaves of tuples, slices and, with `lists`, of lists.
  ConstantWalk(Test test, bool lists) : test_(test), lists_(lists) {}

  bool holds(PyObject* object) {
    constexpr int deepest_tuple = 100;
    if (depth_ == deepest_tuple) return false;
    bool holds_others = PyTuple_CheckExact(object) || PyList_CheckExact(object);
    if (holds_others && !seen_.insert(object).second) return true;
    ++depth_;
    bool found = holds_within(object);
    --depth_;
    return found;
  }

 private:
  bool holds_within(PyObject* object) {
    if (PySlice_Check(object)) {
      auto* slice = reinterpret_cast<PySliceObject*>(object);
      return test_(object) && holds(slice->start) && holds(slice->stop) && holds(slice->step);
    }
    bool tuple = PyTuple_CheckExact(object);
    if (!tuple && !(lists_ && PyList_CheckExact(object))) return test_(object);
    for (Py_ssize_t i = 0; i < Py_SIZE(object); ++i)
      if (!holds(tuple ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i))) return false;
    return true;
  }

  Test test_;
  bool lists_;
  int depth_ = 0;
  std::unordered_set<PyObject*> seen_;  // passed, or a failure has ended the walk
};

bool is_plain_leaf(PyObject* object) {
  return object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented || PyBool_Check(object) ||
         PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyComplex_CheckExact(object) ||
         PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || Py_TYPE(object) == &PyRange_Type;
}

bool is_unchanging_leaf(PyObject* object) {
  return !is_array(object) && !PyList_Check(object) && !PyDict_Check(object) && !PySet_Check(object);
}

bool is_foldable_leaf(PyObject* object) {
  if (PySlice_Check(object) || PyAnySet_CheckExact(object)) return true;
  if (Py_TYPE(object) == known_types().finfo || Py_TYPE(object) == known_types().iinfo) return true;
  return is_plain_leaf(object) || is_dtype(object) || PyType_Check(object) || dtype_of_scalar(object).has_value();
}

}  // namespace

const KnownTypes& known_types() {
  static const KnownTypes types = {
      find_type("numpy", "dtype"),
      find_type("numpy", "ufunc"),
      find_type("numpy._core._multiarray_umath", "_ArrayFunctionDispatcher"),
      find_type("numpy", "generic"),
      find_type("functools", "partial"),
      find_type("abc", "ABCMeta"),
      find_type("numpy", "finfo"),
      find_type("numpy", "iinfo"),
      find_type("types", "UnionType"),
      find_type("_collections", "_tuplegetter"),
      find_type("types", "SimpleNamespace"),
      find_type("types", "LazyImportType"),
  };
  return types;
}

bool is_dtype(PyObject* object) { return known_types().dtype != nullptr && PyObject_TypeCheck(object, known_types().dtype); }

bool has_plain_attributes(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && type->tp_new == PyBaseObject_Type.tp_new &&
         type->tp_getattro == PyObject_GenericGetAttr && type->tp_setattro == PyObject_GenericSetAttr &&
         type->tp_finalize == nullptr;
}

bool is_plain_instance(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == known_types().simple_namespace) return true;
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && type->tp_getattro == PyObject_GenericGetAttr && !PyType_Check(object) &&
         (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) == 0;
}

bool can_change(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) == 0 &&
         !is_library_class(type);
}

bool is_named_tuple(PyTypeObject* type) {
  const PyTypeObject& plain = PyTuple_Type;
  if (!PyType_IsSubtype(type, &PyTuple_Type) || type->tp_init != PyBaseObject_Type.tp_init || type->tp_iter != plain.tp_iter ||
      type->tp_as_mapping->mp_subscript != plain.tp_as_mapping->mp_subscript ||
      type->tp_as_sequence->sq_length != plain.tp_as_sequence->sq_length || type->tp_finalize != nullptr ||
      type->tp_getattro != PyObject_GenericGetAttr)
    return false;
  static PyObject* const fields_name = PyUnicode_InternFromString("_fields");
  PyObject* fields = _PyType_Lookup(type, fields_name);
  if (fields == nullptr || !PyTuple_CheckExact(fields)) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(fields); ++k) {
    PyObject* getter = _PyType_Lookup(type, PyTuple_GET_ITEM(fields, k));
    if (getter == nullptr || Py_TYPE(getter) != known_types().tuple_getter) return false;
  }
  return true;
}

bool is_ufunc(PyObject* object) { return Py_TYPE(object) == known_types().ufunc; }

bool is_exception_class(PyObject* object) {
  return PyType_Check(object) &&
         PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object), reinterpret_cast<PyTypeObject*>(PyExc_BaseException));
}

bool is_builtin_exception(PyObject* type) {
  return is_exception_class(type) && (reinterpret_cast<PyTypeObject*>(type)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0;
}

bool is_plain_constant(PyObject* object) { return ConstantWalk(is_plain_leaf, false).holds(object); }

bool is_deep_constant(PyObject* object) { return ConstantWalk(is_unchanging_leaf, false).holds(object); }

bool is_foldable(PyObject* object) { return ConstantWalk(is_foldable_leaf, true).holds(object); }

}  // namespace accel
