#pragma once
// The ends of paths: blocks of the graph that return, or that hand frames to the interpreter.

#include <string>
#include <vector>

#include "capture/interpreter/exits/recipe_writer.h"
#include "capture/interpreter/interpreter_part.h"

namespace accel {

// An exit of the graph: the block that ends there, and what the interpreter gets. Recipe indices count through these outputs.
struct WalkExit {
  BlockId block = 0;  // -1: of no block; the exit is that of an interrupted run at the end of `polled`
  BlockId polled = -1;
  Exit exit;
  std::vector<Recipe> recipes;
  std::vector<ValueId> outputs;
};

class PathExits : InterpreterPart {
 public:
  explicit PathExits(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  std::vector<WalkExit>& all() { return exits_; }

  // Ends the path: the function returns.
  Status leave_by_return();
  // Ends the path with an exit before the next instruction, or earlier, where the frames cannot be rebuilt.
  Status leave_for(const PlannedExit& planned);
  // Adds a branch to an exit before the running instruction, for where `condition` is false. Checks of one instruction share
  // it.
  Status leave_unless(ValueId condition, Reason reason, std::string detail);
  // Whether all frames can be rebuilt before the next instruction.
  bool is_writable();

  // Ends the current block of the graph with an exit that hands over what `writer` has written.
  void end_block(RecipeWriter& writer, Exit exit);
  // How these frames are rebuilt, or those of the builtin's call that is walked; with what the code has stored.
  Result<std::vector<FrameRecipe>> write_exit(RecipeWriter& writer, const std::vector<const Frame*>& frames);
  // all_wait: the innermost frame waits for a call, too.
  Result<std::vector<FrameRecipe>> write_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                                bool all_wait = false) const;
  // The frames in which an exception is raised, with what their handlers need. Requires no generators.
  Result<std::vector<FrameRecipe>> write_raising_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames) const;
  // Locals that are never read again count as references to what `writer` has written anyway.
  void add_dead_names(const RecipeWriter& writer, const std::vector<const Frame*>& frames,
                      std::vector<FrameRecipe>& recipes) const;
  // The line of the innermost of these frames that is not a library's.
  Location where(const std::vector<const Frame*>& frames) const;

 private:
  struct SharedCheck {
    BlockId block = -1;
    int64_t position = -1;  // of the instruction whose checks branch to it
    Reason reason = Reason::assumption_failed;
  };

  Status leave_earlier(const PlannedExit& planned);

  std::vector<WalkExit> exits_;
  SharedCheck check_;
};

}  // namespace accel
