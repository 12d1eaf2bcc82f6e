#pragma once
// Base of the interpreter's parts: each is responsible for one subject, and all work on the same path.

#include "capture/interpreter/walk_state.h"

namespace accel {

class Interpreter;

class InterpreterPart {
 public:
  InterpreterPart(const InterpreterPart&) = delete;
  InterpreterPart& operator=(const InterpreterPart&) = delete;

 protected:
  explicit InterpreterPart(Interpreter& interpreter);
  ~InterpreterPart() = default;

  Interpreter& interpreter_;
  Capture& capture_;
  SpeculationLog& speculation_;
  WalkState& walk_;
};

}  // namespace accel
