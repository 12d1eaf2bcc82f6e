#pragma once
// The stack of frames of the current path: calls push frames, returns and exceptions pop them.

#include <unordered_map>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/python_function.h"

namespace accel {

class FrameStack : InterpreterPart {
 public:
  explicit FrameStack(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Pushes the outermost frame: a call of `function` with these locals (borrowed, null = unbound).
  Status enter(PyObject* function, PyObject* const* locals, int local_count);
  // Pushes the frame of a call.
  Status push(PythonFunction function, const CallArguments& arguments);
  // Returns from the top frame with this result.
  Status leave(Ref result);
  // Unwinds to the handler of an exception in the frames from number `base` on; false if there is none.
  bool unwind(const Failure& why, size_t base);
  // Fails if a call of this code may not be inlined. Recursion is inlined if its depth is constant, or in a library.
  Status check_depth(PyObject* code) const;

 private:
  // How often the path has forked or a guard has decided its direction.
  int64_t decisions() const;
  Result<std::shared_ptr<const FunctionCode>> code_of(PyObject* code);
  Result<std::unique_ptr<Frame>> make_frame(PythonFunction function);

  std::unordered_map<PyObject*, std::shared_ptr<const FunctionCode>> codes_;
  int next_frame_id_ = 0;
};

}  // namespace accel
