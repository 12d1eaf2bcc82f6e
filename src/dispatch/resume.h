#pragma once
// Leaving compiled code: interpreter frames from an exit's recipes.

#include <Python.h>

#include "base/result.h"
#include "capture/recipe.h"

namespace accel {

// Builds the exit's frames of objects[0, count), one per recipe, which it takes over, and lets the interpreter go on. The
// function's result: new reference, or null with an exception. Requires ExitKind::resume.
PyObject* resume_at(const Exit& exit, PyObject** objects, size_t count);

}  // namespace accel
