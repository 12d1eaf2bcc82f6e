#include "capture/interpreter/exits/path_exits.h"

#include <algorithm>

#include "capture/interpreter/interpreter.h"

namespace accel {

void PathExits::end_block(RecipeWriter& writer, Exit exit) {
  Builder& build = capture_.build();
  WalkExit end;
  end.block = build.block();
  end.exit = std::move(exit);
  end.exit.stores = writer.take_stores();
  end.exit.symbols = writer.write_symbols();
  end.outputs = writer.outputs();
  end.recipes = writer.take_recipes();
  build.leave(static_cast<int>(exits_.size()), end.outputs);
  exits_.push_back(std::move(end));
}

Status PathExits::leave_by_return() {
  RecipeWriter writer(capture_);
  Result<RecipeId> result = writer.write(walk_.result);
  if (!result.ok()) return interpreter_.planner().plan(result.failure());
  Status stored = writer.write_stores();
  if (!stored.ok()) return interpreter_.planner().plan(stored.failure());
  Exit exit;
  exit.kind = ExitKind::ret;
  exit.result = *result;
  end_block(writer, std::move(exit));
  return Unit{};
}

Status PathExits::leave_for(const PlannedExit& planned) {
  if (planned.failed > 0) interpreter_.planner().guard_what_follows(planned);
  RecipeWriter writer(capture_);
  Result<std::vector<FrameRecipe>> frames = write_exit(writer, walk_.live_frames());
  if (!frames.ok()) return leave_earlier(planned);
  Exit exit;
  exit.kind = ExitKind::resume;
  exit.frames = std::move(*frames);
  exit.reason = planned.why.reason;
  exit.detail = planned.why.detail;
  if (planned.line > 0) capture_.set_location(planned.file, planned.line);
  exit.where = planned.line > 0 ? capture_.location() : where(walk_.live_frames());
  capture_.note(exit.reason, exit.detail);
  end_block(writer, std::move(exit));
  walk_.frames.clear();
  return Unit{};
}

// The frames cannot be rebuilt here: the next attempt exits before the last instruction at which they can.
Status PathExits::leave_earlier(const PlannedExit& planned) {
  if (speculation_.control.watch && walk_.writable.position < 0) return fail(Reason::internal_error, "no frame can be rebuilt");
  if (speculation_.control.watch) {
    PlannedExit moved = planned;
    moved.place.clear();
    // Some calls that exit there do not reach the error.
    if (ends_exceptionally(moved.why.reason) && walk_.forks != walk_.writable.forks)
      moved.why = fail(Reason::unsupported_value, "alive before: " + moved.why.detail);
    if (!speculation_.end_at(walk_.writable.position, std::move(moved)))
      return fail(Reason::internal_error, "an exit that cannot be moved");
  }
  speculation_.control.watch = true;
  throw Restart{};
}

bool PathExits::is_writable() {
  RecipeWriter probe(capture_, true);
  return write_exit(probe, walk_.live_frames()).ok();
}

Status PathExits::leave_unless(ValueId condition, Reason reason, std::string detail, bool is_deferrable) {
  if (walk_.speculative) return Unit{};
  if (capture_.effects() != walk_.running.effects)
    return fail(Reason::data_dependent_branch, "a check after an effect: " + detail);
  Builder& build = capture_.build();
  BlockId here = build.block();
  // Failed assumptions that the next version of the function learns from have exits of their own.
  bool shares = check_.position == walk_.running.position &&
                (check_.reason == reason || !(is_learned(reason) || is_learned(check_.reason)));
  if (!shares) {
    BlockId exit_block = build.new_block();
    build.move_to(exit_block);
    RecipeWriter writer(capture_);
    capture_.facts().keep_symbols(false);
    Result<std::vector<FrameRecipe>> frames = write_exit(writer, walk_.frames_before());
    capture_.facts().keep_symbols(true);
    if (!frames.ok()) {
      build.move_to(here);
      // Some calls do not fail the check.
      return ends_exceptionally(reason) ? fail(Reason::unsupported_value, "alive before: " + detail) : fail(reason, detail);
    }
    Exit exit;
    exit.kind = ExitKind::resume;
    exit.is_check = true;
    exit.frames = std::move(*frames);
    exit.reason = reason;
    exit.detail = std::move(detail);
    exit.where = where(walk_.frames_before());
    end_block(writer, std::move(exit));
    check_.position = walk_.running.position;
    check_.block = exit_block;
    check_.reason = reason;
  }
  build.move_to(here);
  BlockId next = build.new_block();
  build.branch(condition, next, {}, check_.block, {});
  build.terminator().is_deferrable = is_deferrable;
  build.move_to(next);
  return Unit{};
}

Location PathExits::where(const std::vector<const Frame*>& frames) const {
  Location where;
  for (const Frame* frame : frames) {
    if (frame->in_library || frame->nested) break;
    size_t last = frame->bytecode().instructions.size() - 1;
    bool innermost = frame == frames.back();
    size_t at = std::min(static_cast<size_t>(innermost ? frame->next : std::max(0, frame->next - 1)), last);
    int line = frame->bytecode().instructions[at].line;
    if (line <= 0) continue;
    capture_.set_location(frame->file, line);
    where = capture_.location();
  }
  return where;
}

}  // namespace accel
