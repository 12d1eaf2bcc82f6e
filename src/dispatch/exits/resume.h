#pragma once
// Interpreter frames made from an exit's recipes.

#include <Python.h>

#include <vector>

#include "capture/product/recipe.h"
#include "cpython/frames/frame.h"

namespace accel {

// The frames, outermost first, with references of their own to `objects`, one per recipe.
std::vector<FrameState> frames_of(const std::vector<FrameRecipe>& frames, PyObject* const* objects);

}  // namespace accel
