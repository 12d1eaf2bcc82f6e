#pragma once
// Making frames: the part of frame.h that differs most between versions. For the .cpp files of this folder only.

#include "cpython/interpreter_frame.h"

namespace accel {

// Pushes a fresh frame of `function` (borrowed) with arbitrary locals and returns body(thread, frame, context), which must
// evaluate the frame exactly once. Null with an exception when the frame could not be made; then body is not called. A pending
// exception is set again when body starts.
using EntryBody = PyObject* (*)(PyThreadState* thread, InterpreterFrame* frame, void* context);
PyObject* enter_frame(PyFunctionObject* function, EntryBody body, void* context);

// Runs the frame in CPython's evaluator from its current instruction, raising the current exception there when `raise` is set.
// The frame is gone afterwards.
PyObject* evaluate(PyThreadState* thread, InterpreterFrame* frame, bool raise);

}  // namespace accel
