#pragma once
// Functions, bound methods and partial objects that arrive as data: each call may pass a new object of the same code.

#include "capture/context/context.h"

namespace accel {

// Whether a value is described by its code and other parts, so that its identity is not guarded unless the code tests it.
bool is_known_by_parts(Capture& capture, const Ref& value);

// The items of the dict at a source; its keys are guarded.
std::vector<std::pair<PyRef, Ref>> items_of_dict(Capture& capture, SourceId source, PyObject* dict);

}  // namespace accel
