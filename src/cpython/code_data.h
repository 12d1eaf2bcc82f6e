#pragma once
// What accel keeps with a code object for as long as that lives. Requires the GIL.

#include <Python.h>

namespace accel {

// What set_code_data() has stored; null: nothing.
void* code_data(PyCodeObject* code);

// Stores `data`, which `release` gets when the code object dies; `release` is the same in every call. False, and `data` is not
// taken, where CPython has no room for it.
bool set_code_data(PyCodeObject* code, void* data, void (*release)(void*));

}  // namespace accel
