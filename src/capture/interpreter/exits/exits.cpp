// The ends of paths: returns, and exits for the interpreter.

#include <algorithm>

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

// The name of the loop in which one of the values, a dynamic list, grows; "" when there is none that capture may unroll.
std::string loop_of_list(const std::vector<Ref>& values) {
  for (const Ref& value : values) {
    if (value && value->kind == AbstractKind::dynamic_list && value->object) return utf8(value->object.get());
  }
  return {};
}

// The name of such a loop for the operands of the current instruction; of a function of a library, for all of its values.
std::string loop_of_operands(const std::vector<const Frame*>& frames) {
  std::string found;
  for (size_t i = frames.size(); found.empty() && i-- > 0;) {
    found = loop_of_list(frames[i]->stack);
    if (!frames[i]->in_library) break;
    if (found.empty()) found = loop_of_list(frames[i]->locals);
  }
  return found;
}

}  // namespace

// Ends the current block of the graph with an exit that hands over what `writer` has written.
void Interpreter::end_block(RecipeWriter& writer, Exit exit) {
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

Status Interpreter::leave_by_return() {
  RecipeWriter writer(capture_);
  Result<RecipeId> result = writer.write(result_);
  if (!result.ok()) return plan_exit(result.failure());
  Status stored = writer.write_stores();
  if (!stored.ok()) return plan_exit(stored.failure());
  Exit exit;
  exit.kind = ExitKind::ret;
  exit.result = *result;
  end_block(writer, std::move(exit));
  return Unit{};
}

Status Interpreter::leave_for(const PlannedExit& planned) {
  if (planned.failed > 0) guard_what_follows(planned);
  RecipeWriter writer(capture_);
  Result<std::vector<FrameRecipe>> frames = write_exit(writer, live_frames());
  if (!frames.ok()) return leave_earlier(planned);
  Exit exit;
  exit.kind = ExitKind::resume;
  exit.frames = std::move(*frames);
  exit.reason = planned.why.reason;
  exit.detail = planned.why.detail;
  if (planned.line > 0) capture_.set_location(planned.file, planned.line);
  exit.where = planned.line > 0 ? capture_.location() : where(live_frames());
  capture_.note(exit.reason, exit.detail);
  end_block(writer, std::move(exit));
  frames_.clear();
  return Unit{};
}

// Where the frames cannot be rebuilt, the path is left at the last instruction before where they can.
Status Interpreter::leave_earlier(const PlannedExit& planned) {
  if (speculation_.control.watch && writable_ < 0) return fail(Reason::internal_error, "no frame can be rebuilt");
  if (speculation_.control.watch) {
    PlannedExit moved = planned;
    moved.place.clear();
    // Not every call that leaves there gets as far as the error.
    if (ends_exceptionally(moved.why.reason) && forks_ != writable_forks_)
      moved.why = fail(Reason::unsupported_value, "alive before: " + moved.why.detail);
    if (!speculation_.end_at(writable_, std::move(moved))) return fail(Reason::internal_error, "an exit that cannot be moved");
  }
  speculation_.control.watch = true;
  throw Restart{};
}

// A loop whose variables never get settled types: its header is left for the interpreter.
Status Interpreter::give_up_loop() {
  PlannedExit planned;
  planned.why = fail(Reason::unsettled_types, {});
  unroll_instead(planned.why);
  return leave_for(planned);
}

// Whether the path only leads to an exception that leaves the captured code.
bool Interpreter::is_raising() const {
  std::vector<const Frame*> frames = frames_before();
  if (frames.empty() || !frames.back()->flow().is_raising(frames.back()->next)) return false;
  return std::all_of(frames.begin(), frames.end() - 1, [](const Frame* frame) {
    return frame->next > 0 && frame->bytecode().instructions[static_cast<size_t>(frame->next) - 1].handler < 0;
  });
}

// Whether paths have parted in the function that runs.
bool Interpreter::forks_inside() const {
  std::vector<const Frame*> frames = frames_before();
  return !frames.empty() && frames.back()->forks_before != forks_;
}

// The failed instruction is left to the interpreter: by the next attempt, which knows that it fails.
Status Interpreter::plan_exit(const Failure& why) {
  take_other_way();
  // A warning that all calls give is no exception.
  const bool exceptional = ends_exceptionally(why.reason) && (why.reason != Reason::will_warn || forks_inside());
  if (!exceptional) walk_instead();
  unroll_instead(why);
  if (!exceptional && why.reason != Reason::capture_budget) stop_walking();
  box_instead(why);
  PlannedExit planned;
  planned.why = why;
  if (why.reason != Reason::will_raise && is_raising())
    planned.why = fail(Reason::will_raise, "on the way to an exception: " + why.detail);
  planned.failed = std::max<int64_t>(position_, 1);
  if (depth_before_ > 0 && why.reason != Reason::capture_budget) planned.place = place_name(frames_before());
  std::vector<const Frame*> frames = frames_before();
  Location place = where(frames);
  if (place.source >= 0) planned.file = capture_.graph().sources[static_cast<size_t>(place.source)];
  planned.line = place.line;
  if (!speculation_.end_at(position_, std::move(planned))) return fail(Reason::internal_error, "an exit that fails");
  throw Restart{};
}

// What fails in a rolled loop because it needs to know the round may work when the loop is evaluated round by round.
void Interpreter::unroll_instead(const Failure& why) {
  bool may_help = why.reason == Reason::unsettled_types || why.reason == Reason::unsupported_argument;
  bool needs_length = why.reason == Reason::unsupported_value || why.reason == Reason::unsupported_call ||
                      why.reason == Reason::data_dependent_branch;
  if (!may_help && !needs_length) return;
  std::string innermost = loop_of_operands(frames_before());
  if (speculation_.loops.unrolled.contains(innermost) || speculation_.loops.given_up.contains(innermost)) innermost.clear();
  if (!innermost.empty()) return unroll(innermost);
  if (!may_help) return;
  for (const Frame* frame : frames_before()) {
    for (const auto& [header, name] : frame->rolled) {
      if (frame->flow().is_inside(frame->next, header) && speculation_.loops.unrolled.count(name) == 0 &&
          speculation_.loops.given_up.count(name) == 0)
        innermost = name;
    }
  }
  if (!innermost.empty()) unroll(innermost);
}

void Interpreter::unroll(const std::string& loop) {
  speculation_.loops.unrolled.insert(loop);
  speculation_.forget_numbering();
  throw Restart{};
}

// What capture looks at from an exit to the instruction that failed is why this version ends here: its guards stay, nothing
// else.
void Interpreter::guard_what_follows(const PlannedExit& planned) {
  PathState here = save();
  Graph& graph = capture_.graph();
  size_t blocks = graph.blocks.size(), exits = exits_.size(), notes = capture_.notes().size();
  int64_t count = count_, position = position_;
  capture_.build().move_to(capture_.build().new_block());
  speculative_ = true;
  try {
    for (int64_t left = planned.failed - position; left >= 0 && !frames_.empty(); --left) {
      before_ = *frames_.back();
      depth_before_ = frames_.size();
      effects_before_ = capture_.effects();
      if (!try_step(*frames_.back()).ok()) break;
    }
  } catch (const Restart&) {
    // The attempt before ended there as well: all guards that it could add are there.
  }
  speculative_ = false;
  nesting_ = 0;
  graph.blocks.resize(blocks);
  exits_.resize(exits);
  capture_.notes().resize(notes);
  count_ = count;
  restore(here);
}

std::vector<const Frame*> Interpreter::live_frames() const {
  std::vector<const Frame*> frames;
  for (const auto& frame : frames_) frames.push_back(frame.get());
  return frames;
}

// As they were before the instruction that runs.
std::vector<const Frame*> Interpreter::frames_before() const {
  std::vector<const Frame*> frames;
  for (size_t i = 0; i + 1 < depth_before_; ++i) frames.push_back(frames_[i].get());
  if (depth_before_ > 0) frames.push_back(&before_);
  return frames;
}

bool Interpreter::is_writable() {
  RecipeWriter probe(capture_, true);
  return write_exit(probe, live_frames()).ok();
}

Status Interpreter::leave_unless(ValueId condition, Reason reason, std::string detail) {
  if (speculative_) return Unit{};
  if (capture_.effects() != effects_before_) return fail(Reason::data_dependent_branch, "a check after an effect: " + detail);
  Builder& build = capture_.build();
  BlockId here = build.block();
  // What versions learn from has exits of its own.
  bool shares = check_position_ == position_ && (check_reason_ == reason || !(is_learned(reason) || is_learned(check_reason_)));
  if (!shares) {
    BlockId way_out = build.new_block();
    build.move_to(way_out);
    RecipeWriter writer(capture_);
    capture_.facts().keep_symbols(false);
    Result<std::vector<FrameRecipe>> frames = write_exit(writer, frames_before());
    capture_.facts().keep_symbols(true);
    if (!frames.ok()) {
      build.move_to(here);
      // Not every call that comes here fails the check.
      return ends_exceptionally(reason) ? fail(Reason::unsupported_value, "alive before: " + detail) : fail(reason, detail);
    }
    Exit exit;
    exit.kind = ExitKind::resume;
    exit.is_check = true;
    exit.frames = std::move(*frames);
    exit.reason = reason;
    exit.detail = std::move(detail);
    exit.where = where(frames_before());
    end_block(writer, std::move(exit));
    check_position_ = position_;
    check_block_ = way_out;
    check_reason_ = reason;
  }
  build.move_to(here);
  BlockId next = build.new_block();
  build.branch(condition, next, {}, check_block_, {});
  build.move_to(next);
  return Unit{};
}

Location Interpreter::where(const std::vector<const Frame*>& frames) const {
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

// Too long: the exit goes where the loop that takes most of it was met first.
Failure Interpreter::budget_failure() {
  int64_t most = 0;
  for (const auto& [key, visit] : visits_) {
    if (visit.second > most) {
      most = visit.second;
      position_ = visit.first;
    }
  }
  return fail(Reason::capture_budget, std::to_string(count_) + " instructions");
}

}  // namespace accel
