#pragma once
// Decides what to do about an instruction that cannot be captured: the next attempt captures it in another form, or exits
// before it.

#include <string>

#include "capture/interpreter/interpreter_part.h"

namespace accel {

class ExitPlanner : InterpreterPart {
 public:
  explicit ExitPlanner(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Called when the running instruction has failed. Plans what the next attempt does instead and throws Restart. Chooses the
  // first of these that may help: the other direction of a branch, walking an iterable, unrolling a loop, a call made by the
  // process, an exit before the instruction.
  Status plan(const Failure& why);
  // The variables of the loop at whose header the path is have no stable types: the loop is left to the interpreter.
  Status give_up_loop();
  // Plans that the loop is unrolled, and throws Restart.
  [[noreturn]] void unroll(const std::string& loop);
  // Whether the path can only reach an exception that leaves the captured code.
  bool is_raising() const;
  // Adds the guards of what capture reads between an exit and the instruction that failed, because the exit depends on it.
  void guard_what_follows(const PlannedExit& planned);

 private:
  bool forks_inside() const;
  void unroll_instead(const Failure& why);
};

}  // namespace accel
