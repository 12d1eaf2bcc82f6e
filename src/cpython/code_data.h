#pragma once
// Data of accel that lives as long as a code object. Requires the GIL.

#include <Python.h>

namespace accel {

// What set_code_data() has stored; null: nothing.
void* code_data(PyCodeObject* code);

// Stores `data`, which `release` gets when the code object dies; all calls must pass one `release`. False, and `data` is not
// taken, where CPython has no room for it.
bool set_code_data(PyCodeObject* code, void* data, void (*release)(void*));

}  // namespace accel
