#pragma once
// Functions, bound methods and partial objects that arrive as data: each call may bring a new object of the same code.

#include "capture/context/context.h"

namespace accel {

// Whether a value is one that is called by its parts, and which one it is does not matter as long as nobody looks at it.
bool is_known_by_parts(Capture& capture, const Ref& value);

// The items of the dict at a source, whose keys are guarded.
std::vector<std::pair<PyRef, Ref>> items_of_dict(Capture& capture, SourceId source, PyObject* dict);

}  // namespace accel
