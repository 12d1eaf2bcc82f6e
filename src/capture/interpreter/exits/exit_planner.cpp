#include "capture/interpreter/exits/exit_planner.h"

#include <algorithm>

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"

namespace accel {

namespace {

// The name of the loop that appends to a dynamic list among the values; "" if there is none that capture may unroll.
std::string loop_of_list(const std::vector<Ref>& values) {
  for (const Ref& value : values) {
    if (value && value->kind == AbstractKind::dynamic_list && value->object) return utf8(value->object.get());
  }
  return {};
}

// The name of such a loop for the operands of the running instruction or, in NumPy's code, for any value of its frames.
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

Status ExitPlanner::give_up_loop() {
  PlannedExit planned;
  planned.why = fail(Reason::unsettled_types, {});
  unroll_instead(planned.why);
  return interpreter_.exits().leave_for(planned);
}

bool ExitPlanner::is_raising() const {
  std::vector<const Frame*> frames = walk_.frames_before();
  if (frames.empty() || !frames.back()->flow().is_raising(frames.back()->next)) return false;
  return std::all_of(frames.begin(), frames.end() - 1, [](const Frame* frame) {
    return frame->next > 0 && frame->bytecode().instructions[static_cast<size_t>(frame->next) - 1].handler < 0;
  });
}

// Whether the path has forked since the running function was called.
bool ExitPlanner::forks_inside() const {
  std::vector<const Frame*> frames = walk_.frames_before();
  return !frames.empty() && frames.back()->forks_before != walk_.forks;
}

Status ExitPlanner::plan(const Failure& why) {
  interpreter_.explorer().take_other_branch();
  // A warning that every call gives is not exceptional.
  const bool exceptional = ends_exceptionally(why.reason) && (why.reason != Reason::will_warn || forks_inside());
  if (!exceptional) interpreter_.generators().walk_instead();
  unroll_instead(why);
  if (!exceptional && why.reason != Reason::capture_budget) interpreter_.generators().stop_walking();
  interpreter_.call_sites().plan_instead(why);
  PlannedExit planned;
  planned.why = why;
  if (why.reason != Reason::will_raise && is_raising())
    planned.why = fail(Reason::will_raise, "on the way to an exception: " + why.detail);
  planned.failed = std::max<int64_t>(walk_.running.position, 1);
  if (walk_.running.depth > 0 && why.reason != Reason::capture_budget) planned.place = place_of(walk_.frames_before());
  std::vector<const Frame*> frames = walk_.frames_before();
  Location place = interpreter_.exits().where(frames);
  if (place.source >= 0) planned.file = capture_.graph().sources[static_cast<size_t>(place.source)];
  planned.line = place.line;
  if (!speculation_.end_at(walk_.running.position, std::move(planned)))
    return fail(Reason::internal_error, "an exit that fails");
  throw Restart{};
}

// An instruction in a loop of the graph may fail because it needs to know the iteration: then capture unrolls the loop.
void ExitPlanner::unroll_instead(const Failure& why) {
  bool may_help = why.reason == Reason::unsettled_types || why.reason == Reason::unsupported_argument;
  bool needs_length = why.reason == Reason::unsupported_value || why.reason == Reason::unsupported_call ||
                      why.reason == Reason::data_dependent_branch;
  if (!may_help && !needs_length) return;
  std::string innermost = loop_of_operands(walk_.frames_before());
  if (speculation_.loops.unrolled.contains(innermost) || speculation_.loops.given_up.contains(innermost)) innermost.clear();
  if (!innermost.empty()) return unroll(innermost);
  if (!may_help) return;
  for (const Frame* frame : walk_.frames_before()) {
    for (const auto& [header, name] : frame->loops.unrollable) {
      if (frame->flow().is_inside(frame->next, header) && speculation_.loops.unrolled.count(name) == 0 &&
          speculation_.loops.given_up.count(name) == 0)
        innermost = name;
    }
  }
  if (!innermost.empty()) unroll(innermost);
}

void ExitPlanner::unroll(const std::string& loop) {
  speculation_.loops.unrolled.insert(loop);
  speculation_.forget_numbering();
  throw Restart{};
}

void ExitPlanner::guard_what_follows(const PlannedExit& planned) {
  PathState here = walk_.save(capture_);
  Graph& graph = capture_.graph();
  size_t blocks = graph.blocks.size(), exits = interpreter_.exits().all().size(), notes = capture_.notes().size();
  int64_t count = walk_.count, position = walk_.running.position;
  capture_.build().move_to(capture_.build().new_block());
  walk_.speculative = true;
  try {
    for (int64_t left = planned.failed - position; left >= 0 && !walk_.frames.empty(); --left) {
      walk_.running.frame = *walk_.frames.back();
      walk_.running.depth = walk_.frames.size();
      walk_.running.effects = capture_.effects();
      if (!interpreter_.try_step(*walk_.frames.back()).ok()) break;
    }
  } catch (const Restart&) {
    // The previous attempt ended there as well, so all guards that it could add have been added.
  }
  walk_.speculative = false;
  walk_.nesting = 0;
  graph.blocks.resize(blocks);
  interpreter_.exits().all().resize(exits);
  capture_.notes().resize(notes);
  walk_.count = count;
  walk_.restore(capture_, here);
}

}  // namespace accel
