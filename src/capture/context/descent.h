#pragma once
// The bound on walks over containers.

namespace accel {

// Guards one level of a recursive walk over containers, which may be nested to any depth, share items, or contain themselves.
// When a walk is too deep, or the walks of one capture visit too many values, the constructor throws InstructionBailout, or
// outside of an instruction FunctionBailout.
class Descent {
 public:
  Descent();
  ~Descent();
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  // Lives while this thread captures an instruction, whose handler catches InstructionBailout.
  class Instruction {
   public:
    Instruction();
    ~Instruction();
    Instruction(const Instruction&) = delete;
    Instruction& operator=(const Instruction&) = delete;

   private:
    bool outer_;
  };
  // Resets the count of visited values at the start of a capture.
  static void begin_capture();
};

}  // namespace accel
