#pragma once
// Generators: their frames are suspended in abstract values. A for loop or a builtin that consumes one either evaluates it at
// capture, item by item, or is walked: then the generator's code runs in frames above it, and its loops are loops of the graph.

#include "capture/interpreter/interpreter_part.h"

namespace accel {

// The generator that a call of a generator function gives: `frame` is before its first instruction.
Ref make_generator(Frame frame);

class Generators : InterpreterPart {
 public:
  explicit Generators(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Suspends the top frame, which is a generator's.
  Status yield(Ref value);
  // Runs a generator to its next yield; nullopt: it has ended.
  Result<std::optional<Ref>> next(const Ref& generator);
  // Begins an iteration of the for loop over `iterator`, if that is a generator whose code is walked.
  Result<bool> consume(const Ref& iterator);
  // The generator whose frame was above the top one has ended: the for loop of the top frame, which consumes it, ends, too.
  void end_consumer();

  // Whether what consumes an iterable at this place is walked. If it is not, that is planned when the instruction fails.
  bool is_walked(const std::string& place);
  // Whether it is walked, or that has not been tried.
  bool may_be_walked(const std::string& place) const;
  // The running instruction cannot be evaluated at capture. Throws Restart if it may work when it is walked.
  void walk_instead();
  // What fails in the Python form of a builtin itself, whatever the items are, becomes an exit at its call. Throws Restart.
  void stop_walking();
};

}  // namespace accel
