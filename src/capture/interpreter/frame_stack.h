#pragma once
// The frames of the path that is walked: calls push them, returns and exceptions pop them.

#include <unordered_map>

#include "capture/interpreter/interpreter_part.h"
#include "capture/interpreter/python_function.h"

namespace accel {

class FrameStack : InterpreterPart {
 public:
  explicit FrameStack(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Pushes the frame of a call of `function` with these locals (borrowed, null = unbound) as the outermost one.
  Status enter(PyObject* function, PyObject* const* locals, int local_count);
  // Pushes the frame of a call. The result, when it is there at once: a generator.
  Result<std::optional<Ref>> push(PythonFunction function, const CallArguments& arguments);
  // Returns from the top frame.
  Status leave(Ref result);
  // Continues at the handler of an exception, if there is one in the frames from number `base` on.
  bool unwind(const Failure& why, size_t base);
  // Fails where a call of this code may not be inlined. Recursion is inlined where its depth is a constant, or in a library.
  Status check_depth(PyObject* code) const;

 private:
  // How often the path has forked, or a guard has decided where it goes.
  int64_t decisions() const;
  Result<std::shared_ptr<const FunctionCode>> code_of(PyObject* code);
  Result<std::unique_ptr<Frame>> make_frame(PythonFunction function);

  std::unordered_map<PyObject*, std::shared_ptr<const FunctionCode>> codes_;
  int next_frame_id_ = 0;
};

}  // namespace accel
