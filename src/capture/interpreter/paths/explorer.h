#pragma once
// Walks the paths one at a time, each until it ends, forks, or waits for others. A jump on a run-time value forks the path;
// paths that reach one instruction are joined there (merger.h). Each path ends in an exit of the graph.

#include <functional>

#include "capture/interpreter/interpreter_part.h"
#include "capture/protocol/conditions.h"

namespace accel {

class PathExplorer : InterpreterPart {
 public:
  explicit PathExplorer(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Walks all paths to their ends. Throws Restart when the speculation log has a new record. Fails for internal reasons only.
  Status run();

  // Forks the path: each branch continues with the frame as its function leaves it. Where the path cannot fork, it takes the
  // branch that can be captured, trying false before true, and calls that take the other one exit before the running
  // instruction.
  using Branch = std::function<Status(Frame& frame)>;
  Status fork(const Condition& condition, const Branch& when_true, const Branch& when_false);
  // Called when the running instruction fails after branches of which only one direction was taken. If the other direction of
  // one of them has not been tried, starting with the last, plans it and throws Restart.
  void take_other_branch();

  // Unbinds locals that are never read again, so that they need not agree on all paths. waits: the frame waits for a call.
  void forget_dead(Frame& frame, bool waits) const;

 private:
  Status walk_path();
  Result<PathOutcome> arrive(Frame& frame);
  Status wait();
  bool is_rolled(Frame& frame);
  bool is_consumer(const Frame& frame);
  void note_round(Frame& frame);
  void forget_left_loops();
  void forget_dead_contents();
  void look_at_live(const Frame& frame);
  void forget_moved_exit(const PlannedExit& planned);
  Status take_one_branch(const Condition& condition, const Branch& when_true, const Branch& when_false);

  int64_t writable_count_ = 0;  // positions so far at which all frames could be rebuilt
};

}  // namespace accel
