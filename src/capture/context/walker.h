#pragma once
// The interface of the interpreter that the semantics of Python and of NumPy use.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/domain/call_arguments.h"
#include "capture/domain/value.h"

namespace accel {

class Walker {
 public:
  // Whether the path may fork here: false in Python code that a primitive calls, because a path cannot continue inside a
  // primitive.
  virtual bool may_fork() const = 0;
  // Whether branches on argument sizes become branches of the graph: true in loops, where a guard would fix the number of
  // iterations.
  virtual bool may_fork_on_sizes() const = 0;
  virtual bool in_loop() const = 0;     // whether the path is in a loop of the graph
  virtual bool in_library() const = 0;  // whether the running code is NumPy's own
  // All objects that the code can reach, without those that the running instruction has popped.
  virtual std::vector<Ref> alive() = 0;
  // Emits an exit to the interpreter before the running instruction, taken where `condition` (bool, rank 0) is false.
  // `is_deferrable`: as in Terminator.
  virtual Status leave_unless(ValueId condition, Reason reason, std::string detail, bool is_deferrable) = 0;
  // Calls any callable and runs it to its end.
  virtual Result<Ref> call_now(const Ref& callable, const CallArguments& arguments) = 0;
  // Runs a generator to its next yield; nullopt when it is exhausted.
  virtual Result<std::optional<Ref>> next_of_generator(const Ref& generator) = 0;

 protected:
  ~Walker() = default;
};

}  // namespace accel
