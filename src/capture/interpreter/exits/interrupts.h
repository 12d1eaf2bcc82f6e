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

  // An instruction has run: notes whether the value that it pushed comes from where other threads may store.
  void note_reading();
  // The path forks on this condition, which may depend on a value that note_reading() has noted.
  void note_branch(ValueId condition);
  // Capture has decided the running instruction, a jump: it goes to instruction `taken` of the top frame, not to `untaken`.
  void note_decided_jump(int taken, int untaken);

 private:
  bool add_free(const PathState& arrival);
  BlockId add_whole();
  bool waits_for_others(BlockId header, BlockId latch) const;
  bool asks_others(BlockId header, BlockId latch) const;
  std::set<std::string> arrays_awaited(BlockId header, BlockId latch) const;

  // Tests of values that other threads may store, which may end a loop: the blocks of jumps that capture has decided, and the
  // conditions of branches.
  std::set<BlockId> decided_tests_;
  std::set<ValueId> tests_;
};

}  // namespace accel
