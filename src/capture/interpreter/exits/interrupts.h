#pragma once
// Exits of loops that are interrupted, or that end when other threads have changed what their conditions read.

#include <set>
#include <string>

#include "capture/interpreter/interpreter_part.h"

namespace accel {

class LoopInterrupts : InterpreterPart {
 public:
  explicit LoopInterrupts(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Adds the exit of a run that is interrupted where the path `arrival` has come back to a loop. `waits`: nothing that the loop
  // does makes it end; then a run also exits where what its guards say has changed, and hands over everything. If the exit
  // hands nothing over it is that of the jump back, and -1 is returned; else the block of the exit, to be branched to.
  BlockId add(const PathState& arrival, bool waits);
  // Whether something new has been found out about what the loop waits for.
  bool plan_waiting(const std::string& loop, BlockId header, const PathState& arrival);

  // An instruction has run: notes whether it gave what other threads may change.
  void note_reading();
  // The path forks on this value, which may depend on what was read.
  void note_branch(ValueId condition);
  // The running instruction, a jump, goes to one instruction of the top frame and not to the other, as capture knows.
  void note_known_jump(int taken, int untaken);

 private:
  bool add_free(const PathState& arrival);
  BlockId add_whole();
  bool waits_for_others(BlockId header, BlockId latch) const;
  bool asks_others(BlockId header, BlockId latch) const;
  std::set<std::string> arrays_awaited(BlockId header, BlockId latch) const;

  // Where what other threads may change decides whether a loop ends: blocks in which capture knows it, and conditions.
  std::set<BlockId> known_flags_;
  std::set<ValueId> flags_;
};

}  // namespace accel
