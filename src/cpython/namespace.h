#pragma once
// Namespaces of objects: two objects may share one dict of attributes.

#include <Python.h>

namespace accel {

// Whether objects of the type may have their names in a dict that other objects share; an exact dict is such an object.
bool may_share_names(PyTypeObject* type);

// The dict of the object's attributes where that exists by now, else the object itself: its attributes are inline, in slots, or
// none. For a dict, the dict itself. Borrowed; makes no dict, runs no Python code.
PyObject* namespace_of(PyObject* object);

}  // namespace accel
