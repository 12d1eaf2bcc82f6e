#pragma once
// Where an object keeps its names: two objects may share one dict.

#include <Python.h>

namespace accel {

// Whether objects of the type may keep their names in a dict that others see; an exact dict is one.
bool may_share_names(PyTypeObject* type);

// The dict of the object's attributes where it has one by now, else the object itself: its attributes are stored in place, in
// slots, or not at all. A dict keeps its own names. Borrowed; makes no dict, runs no Python code.
PyObject* namespace_of(PyObject* object);

}  // namespace accel
