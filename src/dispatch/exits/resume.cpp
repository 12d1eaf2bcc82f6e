#include "dispatch/exits/resume.h"

#include "device_array/device_array.h"

namespace accel {
namespace {

std::vector<PyRef> values(const std::vector<RecipeId>& recipes, PyObject* const* objects) {
  std::vector<PyRef> made;
  made.reserve(recipes.size());
  for (RecipeId id : recipes) made.push_back(PyRef::borrow(id >= 0 ? objects[id] : nullptr));
  return made;
}

// Capture takes methods of DeviceArrays for those of ndarrays.
void use_methods_of_device_arrays(std::vector<PyRef>& stack) {
  for (size_t k = 1; k < stack.size(); ++k) {
    if (!stack[k - 1] || !stack[k] || !is_device_array(stack[k].get())) continue;
    if (PyObject* own = method_of_device_arrays(stack[k - 1].get())) stack[k - 1] = PyRef::borrow(own);
  }
}

FrameState state_of(const FrameRecipe& frame, PyObject* const* objects) {
  FrameState state;
  state.function = PyRef::borrow(objects[frame.function]);
  state.code = frame.code;
  state.offset = frame.offset;
  state.call_offset = frame.call_offset;
  state.return_offset = frame.return_offset;
  state.locals = values(frame.locals, objects);
  state.stack = values(frame.stack, objects);
  state.borrowed = frame.borrowed;
  use_methods_of_device_arrays(state.stack);
  return state;
}

}  // namespace

std::vector<FrameState> frames_of(const std::vector<FrameRecipe>& frames, PyObject* const* objects) {
  std::vector<FrameState> states;
  for (const FrameRecipe& frame : frames) states.push_back(state_of(frame, objects));
  return states;
}

}  // namespace accel
