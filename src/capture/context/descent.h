#pragma once
// The bound on walks over containers.

namespace accel {

// One level of a walk over containers, which may be nested to any depth, share items, or hold themselves. Where a walk exceeds
// the depth, or the walks of a capture the number of values, that is allowed, the instruction is left to the interpreter;
// outside of an instruction the function is.
class Descent {
 public:
  Descent();
  ~Descent();
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  // Of one thread, while an instruction is captured: what a walk in it throws is caught there.
  class Instruction {
   public:
    Instruction();
    ~Instruction();
    Instruction(const Instruction&) = delete;
    Instruction& operator=(const Instruction&) = delete;

   private:
    bool outer_;
  };
  // A capture begins: nothing has been walked yet.
  static void begin_capture();
};

}  // namespace accel
