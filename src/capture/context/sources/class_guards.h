#pragma once
// Guards on properties of classes other than attributes that the code reads: absent attributes, and what C code looks up.

#include <Python.h>

#include <initializer_list>

namespace accel {

class Capture;

// Guards what the MRO of `type` has under the name, including that there is nothing. No guard for classes that do not change.
void guard_class_entry(Capture& capture, PyTypeObject* type, PyObject* name);
void guard_class_entries(Capture& capture, PyTypeObject* type, std::initializer_list<const char*> names);

// Guards that attribute lookup is object's: no __getattr__, no __getattribute__.
void guard_plain_lookup(Capture& capture, PyTypeObject* type);

// Guards the MRO of `type`.
void guard_bases(Capture& capture, PyTypeObject* type);

}  // namespace accel
