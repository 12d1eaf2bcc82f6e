#pragma once
// What to do about an instruction that cannot be captured: the next attempt captures it in another form, or exits before it.

#include <string>

#include "capture/interpreter/interpreter_part.h"

namespace accel {

class ExitPlanner : InterpreterPart {
 public:
  explicit ExitPlanner(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // The running instruction has failed. Adds to the speculation log what the next attempt does instead, and throws Restart. Of
  // what may help the first is chosen: another direction of a branch, walking an iterable, unrolling a loop, a call made by the
  // process; else an exit before the instruction.
  Status plan(const Failure& why);
  // The variables of the loop at whose header the path is never get settled types: the header is left to the interpreter.
  Status give_up_loop();
  // The loop is unrolled. Throws Restart.
  [[noreturn]] void unroll(const std::string& loop);
  // Whether the path only leads to an exception that leaves the captured code.
  bool is_raising() const;
  // Adds the guards of what capture looks at between an exit and the instruction that has failed: it is the reason why this
  // version ends there.
  void guard_what_follows(const PlannedExit& planned);

 private:
  bool forks_inside() const;
  void unroll_instead(const Failure& why);
};

}  // namespace accel
