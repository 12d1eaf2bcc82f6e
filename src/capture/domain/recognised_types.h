#pragma once
// Types and objects that capture recognises by identity, and classes of objects that are safe to compute with at capture.

#include <Python.h>

namespace accel {

struct KnownTypes {
  PyTypeObject *dtype = nullptr, *ufunc = nullptr, *dispatcher = nullptr, *generic = nullptr, *partial = nullptr,
               *abc = nullptr, *finfo = nullptr, *iinfo = nullptr, *union_type = nullptr, *tuple_getter = nullptr,
               *simple_namespace = nullptr;
};

// Resolved at first use; a member is null when the installed versions lack it.
const KnownTypes& known_types();

bool is_dtype(PyObject* object);
// Classes written in Python whose instances are no more than their attributes.
bool has_plain_attributes(PyTypeObject* type);
// Instances of classes written in Python, with the generic lookup of attributes; simple namespaces are no different.
bool is_plain_instance(PyObject* object);
// Classes whose attributes somebody may assign to: what is found there needs a guard.
bool can_change(PyTypeObject* type);
// What collections.namedtuple makes, and subclasses that do not touch how the items are read.
bool is_named_tuple(PyTypeObject* type);
bool is_ufunc(PyObject* object);
bool is_exception_class(PyObject* object);
// Made by C code alone: raising it runs no user code.
bool is_builtin_exception(PyObject* type);
// Immutable values of builtin types (tuples of such included): operations on them run no user code and have no effects.
bool is_plain_constant(PyObject* object);
// No container whose items may change, nor a tuple or slice of such.
bool is_deep_constant(PyObject* object);
// Plain constants and dtypes, types, NumPy scalars: pure callables may be called on them.
bool is_foldable(PyObject* object);

}  // namespace accel
