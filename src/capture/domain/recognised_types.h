#pragma once
// Types and objects that capture recognises by identity, and classes of objects that are safe to compute with at capture.

#include <Python.h>

namespace accel {

struct KnownTypes {
  PyTypeObject *dtype = nullptr, *ufunc = nullptr, *dispatcher = nullptr, *generic = nullptr, *partial = nullptr,
               *abc = nullptr, *finfo = nullptr, *iinfo = nullptr, *union_type = nullptr, *tuple_getter = nullptr,
               *simple_namespace = nullptr, *lazy_import = nullptr;
};

// Resolved at first use; a member is null when the installed versions lack it.
const KnownTypes& known_types();

bool is_dtype(PyObject* object);
// Whether instances hold nothing but attributes: a class written in Python with object's __new__ and attribute access.
bool has_plain_attributes(PyTypeObject* type);
// Whether it is an instance of a class written in Python with generic attribute lookup, or a simple namespace.
bool is_plain_instance(PyObject* object);
// Whether attributes of the class can be assigned to, so that a value read from it needs a guard.
bool can_change(PyTypeObject* type);
// Whether it is a class made by collections.namedtuple, or a subclass that reads items in the same manner.
bool is_named_tuple(PyTypeObject* type);
bool is_ufunc(PyObject* object);
bool is_exception_class(PyObject* object);
// Whether the exception class is implemented in C, so that raising it runs no user code.
bool is_builtin_exception(PyObject* type);
// Immutable values of builtin types (tuples of such included): operations on them run no user code and have no effects.
bool is_plain_constant(PyObject* object);
// Whether nothing reachable through it as an item can change: no mutable container, and no tuple or slice that holds one.
bool is_deep_constant(PyObject* object);
// Whether a pure callable may be evaluated on it at capture: a plain constant, dtype, type or NumPy scalar.
bool is_foldable(PyObject* object);

}  // namespace accel
