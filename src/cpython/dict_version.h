#pragma once
// Versions: numbers that change when a dict or a type changes. Requires the GIL.

#include <Python.h>

#include <cstdint>

namespace accel {

// Pointer to a counter that has another value after every change of `dict`. It may be read as long as the caller owns the dict
// and holds the GIL. Null when the dict cannot be watched (all watcher slots of the process are taken).
const uint64_t* watch_dict(PyObject* dict);

// A number that identifies the type's present attributes (its own and inherited), 0 when it has none now. Equal numbers at two
// times: nothing changed in between.
uint32_t type_version(PyTypeObject* type);
// The version of the type, which is assigned one where it has none. 0 when no version is left.
uint32_t assign_type_version(PyTypeObject* type);

}  // namespace accel
