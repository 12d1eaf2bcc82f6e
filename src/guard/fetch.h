#pragma once
// Fetching what a source names, without running Python code and without raising.

#include <Python.h>

#include <vector>

#include "guard/guard_set.h"

namespace accel {

// What the attribute `name` (a str) is made of: borrowed, null when there is none or finding it takes Python code.
// * A module: the entry of its dict.
// * A class: its __mro__, and what stands there (`__get__` not applied).
// * A Python function: __code__, __defaults__, __name__, ... (`function_parts`), and what its own dict holds.
// * A bound method: __func__, __self__. Of a builtin one __func__ is the descriptor that its class has.
// * Any other object with the generic lookup: the value of its slot or of its own dict; else what stands in the MRO of
//   its class (a function, property, ...; `__get__` not applied).
// The object stays alive as long as `parent` and its class are not changed.
PyObject* fetch_attribute(PyObject* parent, PyObject* name);

// Address of the part `name` of a Python function (__code__, __defaults__, ...), which holds null for None. Null for other
// names.
PyObject* const* function_part(PyObject* function, PyObject* name);

// parent[index] of an exact tuple or list; borrowed, null when out of range or another type.
PyObject* fetch_item(PyObject* parent, int64_t index);

// parent[key] of an exact dict whose keys need no Python code to be compared; borrowed, null when missing or another type.
PyObject* fetch_dict_item(PyObject* parent, PyObject* key);

// What `source` names, given the object of its parent (null when it has none or the parent's object is missing).
PyObject* fetch_from(const Source& source, PyObject* parent, PyObject* function, PyObject* const* locals);

// The object that source `id` names at this call; borrowed, null when there is none.
PyObject* fetch_source(const std::vector<Source>& sources, SourceId id, PyObject* function, PyObject* const* locals);

}  // namespace accel
