#pragma once
// Guards on what classes are, beyond the attributes that are read: what they lack, and what C code asks of them.

#include <Python.h>

#include <initializer_list>

namespace accel {

class Capture;

// What stands in the MRO of `type` under the name, or that nothing does, is the version's. No guard where nobody assigns to the
// class.
void guard_class_entry(Capture& capture, PyTypeObject* type, PyObject* name);
void guard_class_entries(Capture& capture, PyTypeObject* type, std::initializer_list<const char*> names);

// Attributes are found as object finds them: no __getattr__, no __getattribute__.
void guard_plain_lookup(Capture& capture, PyTypeObject* type);

// The classes that `type` derives from, in their order.
void guard_bases(Capture& capture, PyTypeObject* type);

}  // namespace accel
