#pragma once
// What Python's and NumPy's semantics ask of the interpreter that walks the code.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/domain/call_arguments.h"
#include "capture/domain/value.h"

namespace accel {

class Walker {
 public:
  // Whether the path may fork here: not in Python code that a primitive runs, because no path can continue within a primitive.
  virtual bool may_fork() const = 0;
  // Whether a branch on the sizes of arguments is worth a branch in the graph: in loops, where a guard would count their
  // iterations.
  virtual bool may_fork_on_sizes() const = 0;
  virtual bool in_loop() const = 0;     // whether the path is in a loop of the graph
  virtual bool in_library() const = 0;  // whether the code that runs is NumPy's own
  // All objects that the code can get at, but for what the running instruction has popped.
  virtual std::vector<Ref> alive() = 0;
  // Compiled code leaves for the interpreter before the running instruction where `condition` (bool, rank 0) is false.
  virtual Status leave_unless(ValueId condition, Reason reason, std::string detail) = 0;
  // Calls anything and runs it to its end.
  virtual Result<Ref> call_now(const Ref& callable, const CallArguments& arguments) = 0;
  // Runs a generator to its next yield; nullopt: it has ended.
  virtual Result<std::optional<Ref>> next_of_generator(const Ref& generator) = 0;

 protected:
  ~Walker() = default;
};

}  // namespace accel
