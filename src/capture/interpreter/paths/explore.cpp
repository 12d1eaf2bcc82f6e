// The walk along one path: until it ends, parts, or waits for others.

#include <time.h>

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"
#include "capture/protocol/iterators.h"

namespace accel {

namespace {

constexpr int64_t most_unrolled_nodes = 1200;
constexpr const char* data_decides = "the condition is computed from array data";

void look_at_data_once(Capture& capture, const Ref& value, std::set<const AbstractValue*>& seen) {
  if (!value || !seen.insert(value.get()).second) return;
  const Descent level;
  capture.resolver().look(value);
  for (const Ref& item : value->items) look_at_data_once(capture, item, seen);
}

}  // namespace

Status Interpreter::run() {
  ACCEL_TRY([[maybe_unused]] Unit first, walk_path());
  while (!pending_.empty()) {
    ACCEL_TRY([[maybe_unused]] Unit resumed, resume_next());
    if (frames_.empty()) continue;
    ACCEL_TRY([[maybe_unused]] Unit walked, walk_path());
  }
  return Unit{};
}

bool Interpreter::over_budget() const {
  return count_ >= options_.budget || static_cast<int64_t>(capture_.graph().nodes.size()) > options_.node_budget;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Status Interpreter::check_time() const {
  if (count_ % 16 != 0 || thread_seconds() < options_.end) return Unit{};
  return fail(Reason::capture_budget, "more than accel.config.capture_seconds of processor time");
}

// Loops that were to be evaluated round by round make too much code: they are left for the interpreter instead.
void Interpreter::limit_unrolling() {
  if (speculation_.loops.unrolled.empty() || static_cast<int64_t>(capture_.graph().nodes.size()) <= most_unrolled_nodes) return;
  speculation_.loops.given_up.insert(speculation_.loops.unrolled.begin(), speculation_.loops.unrolled.end());
  speculation_.loops.unrolled.clear();
  speculation_.forget_numbering();
  throw Restart{};
}

Status Interpreter::walk_path() {
  while (!frames_.empty()) {
    Frame& frame = *frames_.back();
    if ((count_ & 127) == 0 && PyErr_CheckSignals() < 0) return fail(Reason::interrupted, {});
    ACCEL_TRY(Arrival arrival, arrive(frame));
    if (arrival == Arrival::ended) return Unit{};
    position_ = count_;
    if (speculation_.control.watch && is_writable()) {
      writable_ = position_;
      writable_forks_ = forks_;
      if (++writable_count_ == options_.stop_at_writable) {
        PlannedExit asked;
        asked.why = fail(Reason::unsupported_opcode, "an exit that was asked for");
        return leave_for(asked);
      }
    }
    auto planned = speculation_.control.exits.find(position_);
    if (planned != speculation_.control.exits.end()) {
      forget_moved_exit(planned->second);
      ++count_;  // the next path has positions of its own
      return leave_for(planned->second);
    }
    limit_unrolling();
    ACCEL_TRY([[maybe_unused]] Unit in_time, check_time());
    if (over_budget()) return plan_exit(budget_failure());
    ++count_;
    before_ = frame;
    depth_before_ = frames_.size();
    effects_before_ = capture_.effects();
    one_way_.clear();
    walkable_.clear();
    Status done = try_step(frame);
    if (std::exchange(ended_, false)) {
      frames_.clear();
      return Unit{};
    }
    if (!done.ok() && !unwind(done.failure(), 0)) return plan_exit(done.failure());
  }
  return leave_by_return();
}

// Additions to the log may change the path of the walk: positions are of other instructions then.
void Interpreter::forget_moved_exit(const PlannedExit& planned) {
  if (planned.place.empty() || planned.place == place_name()) return;
  speculation_.control.exits.erase(speculation_.control.exits.lower_bound(position_), speculation_.control.exits.end());
  throw Restart{};
}

// At places where paths meet, the path waits until the others that lead there have come. Rolled loops begin and close there.
// Paths that parted in a call meet behind it at the latest.
Result<Interpreter::Arrival> Interpreter::arrive(Frame& frame) {
  const CodeFlow& flow = frame.flow();
  bool goes_on = std::exchange(resumed_, false), returned = std::exchange(returned_, false);
  if (!flow.is_join(frame.next) && !(returned && !pending_.empty())) return Arrival::goes_on;
  forget_left_loops();
  bool rolled = false;
  if (flow.is_header(frame.next) && !goes_on) {
    rolled = is_rolled(frame);
    if (!rolled && !is_consumer(frame)) note_round(frame);
  }
  if (goes_on || (!rolled && pending_.empty())) {
    if (flow.is_header(frame.next) && speculation_.control.exits.count(count_) == 0)
      ++visits_.try_emplace({frame.id, frame.next}, count_, 0).first->second.second;
    return Arrival::goes_on;
  }
  for (auto& each : frames_) {
    forget_dead(*each, each != frames_.back());
    if (rolled) look_at_live(*each);
  }
  if (rolled) forget_dead_contents();
  PathState state = save();
  state.at_rolled_loop = rolled;
  const bool settled = settle_lists(state), gathered = gather_selections(state);
  if (settled || gathered) {
    state = save();
    state.at_rolled_loop = rolled;
  }
  pending_.push_back(std::move(state));
  frames_.clear();
  return Arrival::ended;
}

bool Interpreter::is_rolled(Frame& frame) {
  std::string place = place_name();
  const Instruction& instruction = frame.bytecode().instructions[static_cast<size_t>(frame.next)];
  if (speculation_.loops.unrolled.count(place) != 0) {
    if (instruction.op == Opcode::for_iter) evaluate_rounds(frame.peek(1));
    return false;
  }
  if (speculation_.loops.rolled.count(place) != 0) return true;
  if (instruction.op != Opcode::for_iter) return !frame.in_library;
  if (!is_worth_rolling(capture_, frame.peek(1), frame.in_library)) return false;
  if (has_few_rounds(capture_, frame.peek(1))) frame.rolled[frame.next] = place;
  if (has_known_rounds(capture_, frame.peek(1))) frame.counted.insert(frame.next);
  return true;
}

// Whether a generator's frame is about to run for the loop at whose header the frame is: that frame's loops count.
bool Interpreter::is_consumer(const Frame& frame) {
  bool is_for = frame.bytecode().instructions[static_cast<size_t>(frame.next)].op == Opcode::for_iter;
  return is_for && frame.peek(1)->kind == AbstractKind::generator && is_walked(place_name());
}

// Counts the rounds of a loop that is evaluated at capture. A library's loop whose rounds depend on data is rolled after all.
void Interpreter::note_round(Frame& frame) {
  int header = frame.next;
  bool again = frame.previous >= header;
  int& rounds = frame.rounds[header];
  rounds = again ? rounds + 1 : 0;
  int& forks = frame.forks[header];
  bool is_for = frame.bytecode().instructions[static_cast<size_t>(header)].op == Opcode::for_iter;
  if (again && !is_for && forks_ > forks) {
    speculation_.loops.rolled.insert(place_name());
    speculation_.forget_numbering();
    throw Restart{};
  }
  forks = forks_;
}

void Interpreter::forget_left_loops() {
  std::erase_if(passed_, [&](const PassedLoop& loop) {
    auto is_in = [&](size_t depth, int id, int header) {
      return frames_[depth]->flow().is_inside(frames_[depth]->next, header) && frames_[depth]->id == id;
    };
    if (loop.depth < frames_.size() && frames_[loop.depth]->id == loop.frame)
      return !is_in(loop.depth, loop.frame, loop.header);
    bool suspended = loop.consumer >= 0 && loop.consumer_depth < frames_.size();
    return !suspended || !is_in(loop.consumer_depth, loop.consumer, loop.consumer_header);
  });
}

void Interpreter::look_at_data(const Ref& value) {
  std::set<const AbstractValue*> seen;
  look_at_data_once(capture_, value, seen);
}

// What a loop may change has to be known before it.
void Interpreter::look_at_live(const Frame& frame) {
  for (const std::vector<Ref>* values : {&frame.locals, &frame.stack}) {
    for (const Ref& value : *values) {
      bool opaque = value && value->kind == AbstractKind::lazy &&
                    speculation_.objects.opaque.count(capture_.sources().text(value->source)) != 0;
      if (value && !opaque) look_at_data(value);
    }
  }
}

PathState Interpreter::save() {
  PathState state;
  state.block = capture_.build().block();
  for (const auto& frame : frames_) state.frames.push_back(*frame);
  state.facts = capture_.facts().all();
  state.errstate = capture_.events().errstate();
  state.errstate_tokens = capture_.events().errstate_tokens();
  state.memory_is_stale = capture_.memory().is_stale();
  state.passed = passed_;
  state.forks = forks_;
  state.lasting_effects = capture_.lasting_effects();
  state.writable = writable_;
  save_objects(state, capture_.resolver().mutable_sources());
  return state;
}

// The path before the instruction that runs: frames, and what they reach.
PathState Interpreter::state_before() const {
  PathState state;
  for (const Frame* frame : frames_before()) state.frames.push_back(*frame);
  state.lasting_effects = capture_.lasting_effects();
  save_objects(state, capture_.resolver().mutable_sources());
  return state;
}

void Interpreter::restore(const PathState& state) {
  frames_.clear();
  for (const Frame& frame : state.frames) frames_.push_back(std::make_unique<Frame>(frame));
  capture_.resolver().forget_caches(state.keep_objects);
  restore_objects(state);
  capture_.facts().all() = state.facts;
  capture_.events().errstate() = state.errstate;
  capture_.events().errstate_tokens() = state.errstate_tokens;
  capture_.memory().is_stale() = state.memory_is_stale;
  capture_.build().move_to(state.block);
  passed_ = state.passed;
  has_read_ = false;
  forks_ = state.forks;
  capture_.lasting_effects() = state.lasting_effects;
  writable_ = state.writable;
}

// The same for all attempts and for all paths at one place.
std::string Interpreter::place_name() const { return place_name(live_frames()); }

std::string Interpreter::place_name(const std::vector<const Frame*>& frames) {
  std::string name;
  for (const Frame* frame : frames) name += place_of(*frame) + " ";
  return name;
}

std::string place_of(const Frame& frame) {
  PyCodeObject* code = frame.code();
  return frame.file + ":" + std::to_string(code->co_firstlineno) + ":" + utf8(code->co_name) + "@" + std::to_string(frame.next);
}

bool Interpreter::may_fork_on_sizes() const {
  if (nesting_ > 0 || frames_.empty() || frames_.back()->in_library) return false;
  for (const auto& frame : frames_) {
    if (!frame->flow().headers_around(frame->next).empty()) return true;
  }
  return false;
}

// Leaves the path for later. Where it goes back to the header of a loop, it comes there now.
Status Interpreter::wait() {
  for (auto& each : frames_) forget_dead(*each, each != frames_.back());
  Frame& frame = *frames_.back();
  if (frame.flow().is_header(frame.next)) {
    ACCEL_TRY(Arrival arrival, arrive(frame));
    if (arrival == Arrival::ended) return Unit{};
  }
  pending_.push_back(save());
  return Unit{};
}

Status Interpreter::fork(const Condition& condition, const Way& when_true, const Way& when_false) {
  if (speculative_) return fail(Reason::data_dependent_branch, data_decides);
  if (nesting_ > 0) return take_one_way(condition, when_true, when_false);
  Builder& build = capture_.build();
  BlockId yes = build.new_block(), no = build.new_block();
  build.branch(condition.value, yes, {}, no, {});
  if (std::exchange(has_read_, false)) flags_.insert(condition.value);
  ++forks_;
  PathState here = save();
  build.move_to(no);
  // That not all of several relations hold says nothing of one of them.
  if (condition.relations.size() == 1) capture_.facts().assume(PathFacts::inverse(condition.relations[0]));
  ACCEL_TRY([[maybe_unused]] Unit one, when_false(*frames_.back()));
  ACCEL_TRY([[maybe_unused]] Unit waits, wait());
  restore(here);
  build.move_to(yes);
  for (const Relation& relation : condition.relations) capture_.facts().assume(relation);
  return when_true(*frames_.back());
}

Status Interpreter::take_one_way(const Condition& condition, const Way& when_true, const Way& when_false) {
  walk_instead();
  std::string place = place_name();
  std::optional<bool> way = speculation_.control.taken.try_emplace(place, false).first->second;
  if (!way) return fail(Reason::data_dependent_branch, data_decides);
  if (std::find(one_way_.begin(), one_way_.end(), place) == one_way_.end()) one_way_.push_back(place);
  ValueId holds = condition.value;
  Builder& build = capture_.build();
  if (!*way) holds = build.pointwise(Op::logical_not, {holds}, {DType::bool_}, capture_.graph().type(holds).kind);
  ACCEL_TRY([[maybe_unused]] Unit checked, capture_.require(holds, Reason::data_dependent_branch, data_decides));
  return (*way ? when_true : when_false)(*frames_.back());
}

// What fails behind branches where one way was taken may work on the other: the last branch is turned first.
void Interpreter::take_other_way() {
  for (; !one_way_.empty(); one_way_.pop_back()) {
    std::optional<bool>& way = speculation_.control.taken.at(one_way_.back());
    bool first = way && !*way;
    way = first ? std::optional(true) : std::nullopt;
    if (one_way_.size() > 1 && !first) {
      speculation_.control.taken.erase(one_way_.back());
      continue;
    }
    speculation_.forget_numbering();
    throw Restart{};
  }
}

}  // namespace accel
