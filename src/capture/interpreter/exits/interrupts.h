#pragma once
// Exits of loops for runs that are interrupted, and of loops that end only when other threads change what their conditions
// read.

#include <set>
#include <string>

#include "capture/interpreter/interpreter_part.h"

namespace accel {

class LoopInterrupts : InterpreterPart {
 public:
  explicit LoopInterrupts(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  // Adds the exit of an interrupted run at the back edge on which the path `arrival` is. `waits`: only other threads can end
  // the loop, so a run also exits, with all live values, where a guard fails. Returns the block of the exit, to which the
  // caller branches; -1 if the exit needs no values and is attached to the jump itself, or if there is none.
  BlockId add(const PathState& arrival, bool waits);
  // Records what the loop waits for; returns whether the log got a new record.
  bool plan_waiting(const std::string& loop, BlockId header, const PathState& arrival);

  // Called after an instruction: notes whether the value it pushed was read from where other threads may store.
  void note_reading();
  // Called when the path forks on a condition, which may depend on a value noted by note_reading().
  void note_branch(ValueId condition);
  // Called when capture has decided a jump: it goes to instruction `taken` of the top frame instead of `untaken`.
  void note_decided_jump(int taken, int untaken);

 private:
  bool add_free(const PathState& arrival);
  BlockId add_whole();
  bool waits_for_others(BlockId header, BlockId latch) const;
  bool asks_others(BlockId header, BlockId latch) const;
  std::set<std::string> arrays_awaited(BlockId header, BlockId latch) const;

  // Tests of values that other threads may store and that may end a loop: blocks with jumps that capture has decided, and
  // conditions of branches.
  std::set<BlockId> decided_tests_;
  std::set<ValueId> tests_;
};

}  // namespace accel
