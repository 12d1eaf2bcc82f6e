#pragma once
// Handing a frame over to CPython's evaluator in the middle of a function. Requires the GIL.
//
// Compiled code has no frame. When it gives up it describes one (FrameState), and these functions build a real one and let the
// interpreter go on from there. No hook stays installed; a hook of another tool stays installed and is not called for such a
// frame.

#include <Python.h>

#include <vector>

#include "cpython/py_ref.h"

namespace accel {

struct FrameState {
  PyRef function;  // the PyFunctionObject that runs
  PyRef code;      // that the frame runs, whatever code the function has by now; null: the function's. can_hand_over() it
  int offset = 0;  // code unit to go on at (Instruction::offset); raising: of the instruction that fails (either offset)
  int return_offset = -1;     // call_under_frames: code unit of an instruction that returns, whatever it returns
  int call_offset = -1;       // a frame that waits for a callee: code unit of its call instruction (either offset)
  std::vector<PyRef> locals;  // localsplus in order, cells made when offset is past the prologue; null = unbound
  std::vector<PyRef> stack;   // value stack, bottom first, in this version's layout; null = NULL. A frame that waits for a
                              // callee: without the callable and the arguments; the result is pushed on it
  std::vector<int> borrowed;  // slots of `locals`, then of `stack`, whose objects have another owner until the frame has ended
};

// Runs the function from `offset` on. New reference; null with an exception when the function raises.
PyObject* resume_frame(FrameState&& state);

// Resumes the frame with the current exception raised by the instruction at `offset`: its handlers run, the traceback names its
// line. Requires an exception.
PyObject* raise_in_frame(FrameState&& state);

// Nested calls: the last state is resumed (or raises) while its callers, linked to each other, wait at their call_offset and
// are visible to sys._getframe and tracebacks. A result is pushed on the caller's stack, which goes on at its `offset`; an
// exception is raised in the caller at its call_offset. Requires at least one state; all but the last have a call_offset.
PyObject* resume_frames(std::vector<FrameState>&& outermost_first, bool raise);

// What follows a call that was made under frames.
enum class AfterCall : uint8_t {
  go_on,  // the frames are dropped
  leave,  // they continue in the interpreter, with the result on the stack of the innermost one
  raise,  // the current exception is raised in them
};

// A call made while the frames that wait for it can be seen: sys._getframe and tracebacks find them.
struct FramedCall {
  // Makes the call; sets *result to a new reference unless it answers `raise`, which needs an exception.
  AfterCall (*act)(void* context, PyObject** result) = nullptr;
  void* context = nullptr;
  // Releases what the call needed. Called before the frames continue or raise, so that only the frames own their objects.
  void (*release)(void* context) = nullptr;
  bool was_made = false;  // act was called
  AfterCall after =
      AfterCall::go_on;         // the outcome: go_on becomes leave where the callee retained a frame or changed its variables
  PyRef result;                 // of act when the frames are dropped
  const void* shown = nullptr;  // the frames, while act runs
};

// For act: whether nothing else refers to the frames, and their variables are unchanged.
bool frames_are_untouched(const FramedCall& call);

// Shows frames, all of which wait at their call_offset, and makes the call. Meanwhile the frames own the references of the
// states, which get them back when the frames are dropped. When the frames continue or raise, the result is that of the
// outermost frame, or null with an exception; else it is null without an exception, or with one when the call could not be
// made.
PyObject* call_under_frames(std::vector<FrameState>& outermost_first, FramedCall& call);

// A real frame that compiled code runs under, for calls into Python that may look at it.
class OpenFrame {
 public:
  // Shows `state` to Python code that is called from here: `offset` is the instruction that runs. Ends with hide().
  void show(const FrameState& state);
  void hide();

  // Exactly one of these ends the frame; the frame must be hidden. state.function is ignored.
  PyObject* resume(FrameState&& state);
  PyObject* raise(FrameState&& state);

 private:
  friend struct FrameEntry;
  explicit OpenFrame(void* frame) : frame_(frame) {}
  void* frame_;  // _PyInterpreterFrame
};

// Makes a frame of `function` (borrowed) and returns body(frame, context), which must end the frame. Null with an exception
// when there is no frame to be had; then body is not called.
using FrameBody = PyObject* (*)(OpenFrame& frame, void* context);
PyObject* with_open_frame(PyFunctionObject* function, FrameBody body, void* context);

}  // namespace accel
