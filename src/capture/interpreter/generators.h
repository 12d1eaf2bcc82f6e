#pragma once
// Generators: their frames are suspended in abstract values. A for loop or builtin that consumes one either evaluates it at
// capture, item by item, or is walked: the generator's code runs in frames above it, and its loops become loops of the graph.

#include "capture/interpreter/interpreter_part.h"

namespace accel {

// Whether the generator runs, has run, or has ended.
bool has_begun(const AbstractValue& generator);
// Positional arguments with which its function returns such a generator again; requires that it has not begun. A generator
// expression may have made the iterator of its first `for` at the call: that iterator takes the place of what it is of.
std::vector<Ref> arguments_of_generator(const AbstractValue& generator);

class Generators : InterpreterPart {
 public:
  explicit Generators(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Returns a generator from the top frame, a generator function's, which it suspends.
  Status make();
  // Suspends the top frame, a generator's.
  Status yield(Ref value);
  // Runs a generator to its next yield; nullopt when it is exhausted.
  Result<std::optional<Ref>> next(const Ref& generator);
  // Starts an iteration of the for loop over `iterator`; false unless that is a generator whose code is walked.
  Result<bool> consume(const Ref& iterator);
  // Called when the generator above the top frame is exhausted: ends the for loop of the top frame that consumes it.
  void end_consumer();

  // Whether an iterable consumed at this location is walked. If not, walking is planned in case the instruction fails.
  bool is_walked(const std::string& place);
  // Whether it is walked, or walking has not been tried.
  bool may_be_walked(const std::string& place) const;
  // Called when the running instruction cannot be evaluated at capture. Throws Restart if walking may work.
  void walk_instead();
  // Called when the Python form of a builtin fails independently of the items: makes it an exit at the builtin's call. Throws
  // Restart.
  void stop_walking();
};

}  // namespace accel
