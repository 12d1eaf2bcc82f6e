#pragma once
// Ends of paths: blocks of the graph that return or hand frames to the interpreter.

#include <string>
#include <vector>

#include "capture/interpreter/exits/recipe_writer.h"
#include "capture/interpreter/interpreter_part.h"

namespace accel {

// An exit of the graph: the block that it ends, and what the interpreter gets. Indices in recipes refer to `outputs`.
struct WalkExit {
  BlockId block = 0;  // -1: no block of its own; the exit of an interrupted run at the end of block `polled`
  BlockId polled = -1;
  Exit exit;
  std::vector<Recipe> recipes;
  std::vector<ValueId> outputs;
};

class PathExits : InterpreterPart {
 public:
  explicit PathExits(Interpreter& interpreter) : InterpreterPart(interpreter) {}

  std::vector<WalkExit>& all() { return exits_; }

  // Ends the path by returning from the function.
  Status leave_by_return();
  // Ends the path with an exit before the next instruction, or if frames cannot be rebuilt there, before an earlier one.
  Status leave_for(const PlannedExit& planned);
  // Branches to an exit before the running instruction where `condition` is false. All checks of an instruction share the exit.
  Status leave_unless(ValueId condition, Reason reason, std::string detail, bool is_deferrable);
  // Whether all frames can be rebuilt before the next instruction.
  bool is_writable();

  // Ends the current block with an exit that hands over what `writer` has written.
  void end_block(RecipeWriter& writer, Exit exit);
  // The recipes of these frames, including stores. If a builtin's call is being walked, those of the frames before that call.
  Result<std::vector<FrameRecipe>> write_exit(RecipeWriter& writer, const std::vector<const Frame*>& frames);
  // Recipes of frames. all_wait: the innermost frame waits for a call as well.
  Result<std::vector<FrameRecipe>> write_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                                bool all_wait = false) const;
  // Recipes of frames in which an exception is raised, with the values that their handlers need. Requires no generators.
  Result<std::vector<FrameRecipe>> write_raising_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames) const;
  // Locals that are never read again, whose values `writer` has written for other reasons, are added to keep reference counts.
  void add_dead_names(const RecipeWriter& writer, const std::vector<const Frame*>& frames,
                      std::vector<FrameRecipe>& recipes) const;
  // The line of the innermost frame that is not in a library.
  Location where(const std::vector<const Frame*>& frames) const;

 private:
  struct SharedCheck {
    BlockId block = -1;
    int64_t position = -1;  // of the instruction whose checks share the exit
    Reason reason = Reason::assumption_failed;
  };

  Status leave_earlier(const PlannedExit& planned);

  std::vector<WalkExit> exits_;
  SharedCheck check_;
};

}  // namespace accel
