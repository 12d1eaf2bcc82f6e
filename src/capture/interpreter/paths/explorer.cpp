#include "capture/interpreter/paths/explorer.h"

#include <algorithm>

#include "capture/interpreter/interpreter.h"
#include "capture/interpreter/paths/reference_counts.h"
#include "capture/protocol/iterators.h"

namespace accel {

namespace {

constexpr const char* data_decides = "the condition is computed from array data";

}  // namespace

Status PathExplorer::run() {
  ACCEL_TRY([[maybe_unused]] Unit first, walk_path());
  while (interpreter_.merger().has_pending()) {
    ACCEL_TRY([[maybe_unused]] Unit resumed, interpreter_.merger().resume_next());
    if (walk_.frames.empty()) continue;
    ACCEL_TRY([[maybe_unused]] Unit walked, walk_path());
  }
  return Unit{};
}

Status PathExplorer::walk_path() {
  while (!walk_.frames.empty()) {
    Frame& frame = *walk_.frames.back();
    if ((walk_.count & 127) == 0 && PyErr_CheckSignals() < 0) return fail(Reason::interrupted, {});
    ACCEL_TRY(PathOutcome arrival, arrive(frame));
    if (arrival == PathOutcome::ended) return Unit{};
    walk_.running.position = walk_.count;
    if (speculation_.control.watch && interpreter_.exits().is_writable()) {
      walk_.writable.position = walk_.running.position;
      walk_.writable.forks = walk_.forks;
      if (++writable_count_ == interpreter_.options().stop_at_writable) {
        PlannedExit asked;
        asked.why = fail(Reason::unsupported_opcode, "an exit that was asked for");
        return interpreter_.exits().leave_for(asked);
      }
    }
    auto planned = speculation_.control.exits.find(walk_.running.position);
    if (planned != speculation_.control.exits.end()) {
      forget_moved_exit(planned->second);
      ++walk_.count;  // so that the next path starts at a new position
      return interpreter_.exits().leave_for(planned->second);
    }
    interpreter_.budget().limit_unrolling();
    ACCEL_TRY([[maybe_unused]] Unit in_time, interpreter_.budget().check_time());
    if (interpreter_.budget().is_exceeded()) return interpreter_.planner().plan(interpreter_.budget().failure());
    ++walk_.count;
    walk_.running.frame = frame;
    walk_.running.depth = walk_.frames.size();
    walk_.running.effects = capture_.effects();
    walk_.running.branches.clear();
    walk_.running.walkable.clear();
    Status done = interpreter_.try_step(frame);
    if (std::exchange(walk_.running.outcome, PathOutcome::goes_on) == PathOutcome::ended) {
      walk_.frames.clear();
      return Unit{};
    }
    if (!done.ok() && !interpreter_.frames().unwind(done.failure(), 0)) return interpreter_.planner().plan(done.failure());
  }
  return interpreter_.exits().leave_by_return();
}

// A planned exit whose position now belongs to another instruction is dropped: the log has changed the path of the walk.
void PathExplorer::forget_moved_exit(const PlannedExit& planned) {
  if (planned.place.empty() || planned.place == walk_.place()) return;
  speculation_.control.exits.erase(speculation_.control.exits.lower_bound(walk_.running.position),
                                   speculation_.control.exits.end());
  throw Restart{};
}

// At a join point the path waits until all other paths that lead there have arrived. Loops of the graph begin and close there.
// Paths that forked in a call join at its return at the latest.
Result<PathOutcome> PathExplorer::arrive(Frame& frame) {
  const CodeFlow& flow = frame.flow();
  const Approach approach = std::exchange(walk_.approach, Approach::step);
  const bool goes_on = approach == Approach::resumes, returns = approach == Approach::returns;
  if (!flow.is_join(frame.next) && !(returns && interpreter_.merger().has_pending())) return PathOutcome::goes_on;
  forget_left_loops();
  bool rolled = false;
  if (flow.is_header(frame.next) && !goes_on) {
    rolled = is_rolled(frame);
    if (!rolled && !is_consumer(frame)) note_round(frame);
  }
  if (goes_on || (!rolled && !interpreter_.merger().has_pending())) {
    if (flow.is_header(frame.next) && speculation_.control.exits.count(walk_.count) == 0)
      interpreter_.budget().note_visit(frame);
    return PathOutcome::goes_on;
  }
  for (auto& each : walk_.frames) {
    forget_dead(*each, each != walk_.frames.back());
    if (rolled) look_at_live(*each);
  }
  if (rolled) forget_dead_contents();
  PathState state = walk_.save(capture_);
  state.at_rolled_loop = rolled;
  const bool settled = interpreter_.merger().settle_lists(state), gathered = interpreter_.merger().gather_selections(state);
  if (settled || gathered) {
    state = walk_.save(capture_);
    state.at_rolled_loop = rolled;
  }
  interpreter_.merger().add_pending(std::move(state));
  walk_.frames.clear();
  return PathOutcome::ended;
}

bool PathExplorer::is_rolled(Frame& frame) {
  std::string place = walk_.place();
  const Instruction& instruction = frame.bytecode().instructions[static_cast<size_t>(frame.next)];
  if (speculation_.loops.unrolled.count(place) != 0) {
    if (instruction.op == Opcode::for_iter) evaluate_rounds(frame.iterator());
    return false;
  }
  if (speculation_.loops.rolled.count(place) != 0) return true;
  if (instruction.op != Opcode::for_iter) return !frame.in_library;
  if (!is_worth_rolling(capture_, frame.iterator(), frame.in_library)) return false;
  if (has_few_rounds(capture_, frame.iterator())) frame.loops.unrollable[frame.next] = place;
  if (has_known_rounds(capture_, frame.iterator())) frame.loops.counted.insert(frame.next);
  return true;
}

// Whether the loop at whose header the frame is consumes a generator whose code is walked: then the iterations of the
// generator's loops are counted, not those of this loop.
bool PathExplorer::is_consumer(const Frame& frame) {
  bool is_for = frame.bytecode().instructions[static_cast<size_t>(frame.next)].op == Opcode::for_iter;
  return is_for && frame.iterator()->kind == AbstractKind::generator && interpreter_.generators().is_walked(walk_.place());
}

// Counts the iterations of a loop that is evaluated at capture. A loop of NumPy's code whose iteration count depends on data
// becomes a loop of the graph in the next attempt.
void PathExplorer::note_round(Frame& frame) {
  int header = frame.next;
  bool again = frame.previous >= header;
  int& rounds = frame.loops.rounds[header];
  rounds = again ? rounds + 1 : 0;
  int& forks = frame.loops.forks[header];
  bool is_for = frame.bytecode().instructions[static_cast<size_t>(header)].op == Opcode::for_iter;
  if (again && !is_for && walk_.forks > forks) {
    speculation_.loops.rolled.insert(walk_.place());
    speculation_.forget_numbering();
    throw Restart{};
  }
  forks = walk_.forks;
}

void PathExplorer::forget_left_loops() {
  std::erase_if(walk_.passed, [&](const PassedLoop& loop) {
    auto is_in = [&](size_t depth, int id, int header) {
      return walk_.frames[depth]->flow().is_inside(walk_.frames[depth]->next, header) && walk_.frames[depth]->id == id;
    };
    if (loop.depth < walk_.frames.size() && walk_.frames[loop.depth]->id == loop.frame)
      return !is_in(loop.depth, loop.frame, loop.header);
    bool suspended = loop.consumer >= 0 && loop.consumer_depth < walk_.frames.size();
    return !suspended || !is_in(loop.consumer_depth, loop.consumer, loop.consumer_header);
  });
}

// Resolves all objects that the frame refers to: a loop may change them, so their contents must be known before it.
void PathExplorer::look_at_live(const Frame& frame) {
  for (const std::vector<Ref>* values : {&frame.locals, &frame.stack}) {
    for (const Ref& value : *values) {
      bool opaque = value && value->kind == AbstractKind::lazy &&
                    speculation_.objects.opaque.count(capture_.sources().text(value->source)) != 0;
      if (value && !opaque) capture_.resolver().look_deep(value);
    }
  }
}

// Suspends the path. If it is at the header of a loop it is handled as an arrival first.
Status PathExplorer::wait() {
  for (auto& each : walk_.frames) forget_dead(*each, each != walk_.frames.back());
  Frame& frame = *walk_.frames.back();
  if (frame.flow().is_header(frame.next)) {
    ACCEL_TRY(PathOutcome arrival, arrive(frame));
    if (arrival == PathOutcome::ended) return Unit{};
  }
  interpreter_.merger().add_pending(walk_.save(capture_));
  return Unit{};
}

Status PathExplorer::fork(const Condition& condition, const Branch& when_true, const Branch& when_false) {
  if (walk_.speculative) return fail(Reason::data_dependent_branch, data_decides);
  if (walk_.nesting > 0) return take_one_branch(condition, when_true, when_false);
  Builder& build = capture_.build();
  BlockId yes = build.new_block(), no = build.new_block();
  build.branch(condition.value, yes, {}, no, {});
  interpreter_.interrupts().note_branch(condition.value);
  ++walk_.forks;
  PathState here = walk_.save(capture_);
  build.move_to(no);
  // If several relations do not all hold, each of them may still hold.
  if (condition.relations.size() == 1) capture_.facts().assume(PathFacts::inverse(condition.relations[0]));
  ACCEL_TRY([[maybe_unused]] Unit one, when_false(*walk_.frames.back()));
  ACCEL_TRY([[maybe_unused]] Unit waits, wait());
  walk_.restore(capture_, here);
  build.move_to(yes);
  for (const Relation& relation : condition.relations) capture_.facts().assume(relation);
  return when_true(*walk_.frames.back());
}

Status PathExplorer::take_one_branch(const Condition& condition, const Branch& when_true, const Branch& when_false) {
  interpreter_.generators().walk_instead();
  std::string place = walk_.place();
  std::optional<bool> direction = speculation_.control.taken.try_emplace(place, false).first->second;
  if (!direction) return fail(Reason::data_dependent_branch, data_decides);
  if (std::find(walk_.running.branches.begin(), walk_.running.branches.end(), place) == walk_.running.branches.end())
    walk_.running.branches.push_back(place);
  ValueId holds = condition.value;
  Builder& build = capture_.build();
  if (!*direction) holds = build.pointwise(Op::logical_not, {holds}, {DType::bool_}, capture_.graph().type(holds).kind);
  ACCEL_TRY([[maybe_unused]] Unit checked, capture_.require(holds, Reason::data_dependent_branch, data_decides));
  return (*direction ? when_true : when_false)(*walk_.frames.back());
}

void PathExplorer::take_other_branch() {
  for (; !walk_.running.branches.empty(); walk_.running.branches.pop_back()) {
    std::optional<bool>& direction = speculation_.control.taken.at(walk_.running.branches.back());
    bool first = direction && !*direction;
    direction = first ? std::optional(true) : std::nullopt;
    if (walk_.running.branches.size() > 1 && !first) {
      speculation_.control.taken.erase(walk_.running.branches.back());
      continue;
    }
    speculation_.forget_numbering();
    throw Restart{};
  }
}

void PathExplorer::forget_dead(Frame& frame, bool waits) const {
  for (size_t i = 0; i < frame.locals.size(); ++i) {
    if (!frame.is_live(i, waits)) frame.locals[i] = nullptr;
  }
  std::erase_if(frame.loops.rounds, [&](const auto& round) { return !frame.flow().is_inside(frame.next, round.first); });
}

// Empties cells of the top frame, which is at a loop header, if their contents are never read again and no function refers to
// them.
void PathExplorer::forget_dead_contents() {
  Frame& frame = *walk_.frames.back();
  auto is_cell = [](const Ref& value) { return value && value->kind == AbstractKind::cell && !value->object; };
  if (std::none_of(frame.locals.begin(), frame.locals.end(), is_cell)) return;
  const PathState state = walk_.save(capture_);
  const References references(state);
  for (size_t i = 0; i < frame.locals.size(); ++i) {
    const Ref& cell = frame.locals[i];
    bool dead = is_cell(cell) && !frame.flow().is_content_live(frame.next, i) && references.is_named_once(cell);
    if (dead) cell->items.clear();
  }
}

}  // namespace accel
