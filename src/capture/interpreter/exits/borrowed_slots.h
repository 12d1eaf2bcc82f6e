#pragma once
// Which slots of rebuilt frames own no reference (cpython/bytecode/borrowed_values.h), so that code which counts references,
// such as ndarray.resize, finds what it would find in the interpreter.

#include <vector>

#include "capture/interpreter/frame.h"
#include "capture/product/recipe.h"

namespace accel {

// Fills FrameRecipe::borrowed of frames, outermost first, whose locals and stacks are written. `all_wait`: the last one waits
// for a call, too.
void find_borrowed_slots(const std::vector<const Frame*>& frames, bool all_wait, std::vector<FrameRecipe>& recipes);

// The numbers of the arguments that own no reference in a call that the frame, whose recipe is `recipe`, is about to make.
std::vector<int> borrowed_arguments(const Frame& at_call, const std::vector<RecipeId>& arguments, const FrameRecipe& recipe);

}  // namespace accel
