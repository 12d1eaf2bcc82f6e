#pragma once
// Texts of Python objects for guards, notes and exits. Never runs user code, never leaves an exception.

#include <Python.h>

#include <string>

namespace accel {

std::string utf8(PyObject* text);  // requires a str (any other object gives "?")
// Builtin scalars and strings as Python prints them, named objects and callables by their names, others by their types.
std::string short_repr(PyObject* object);
std::string type_name(PyObject* object);

}  // namespace accel
