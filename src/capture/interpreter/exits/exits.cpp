// The ends of paths: returns, and exits for the interpreter.

#include <algorithm>
#include <set>

#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"
#include "ir/analysis/flow.h"

namespace accel {

namespace {

// The loop in which a dynamic list among these has grown, if that may be evaluated round by round.
std::string loop_of_list(const std::vector<Ref>& values) {
  for (const Ref& value : values) {
    if (value && value->kind == AbstractKind::dynamic_list && value->object) return utf8(value->object.get());
  }
  return {};
}

// The same of what an instruction works on: of all that a library's function has.
std::string loop_of_operands(const std::vector<const Frame*>& frames) {
  std::string found;
  for (size_t i = frames.size(); found.empty() && i-- > 0;) {
    found = loop_of_list(frames[i]->stack);
    if (!frames[i]->in_library) break;
    if (found.empty()) found = loop_of_list(frames[i]->locals);
  }
  return found;
}

// What costs nothing to hand over.
bool is_free(const Ref& value) {
  return (value->kind == AbstractKind::constant && value->items.empty()) || value->kind == AbstractKind::lazy ||
         value->source >= 0;
}

// An object that a call has given: others may see when it dies, so that a name that is never read again keeps it alive.
bool is_of_a_call(const Ref& value) {
  return value->kind == AbstractKind::opaque || (value->kind == AbstractKind::text && !value->object);
}

// The code behind an exit may ask which object a number is. Of integers small ones are singletons, others count something.
void check_identities(const Frame& frame, bool waits) {
  if (!frame.flow().asks_identity(frame.next)) return;
  for (size_t i = 0; i < frame.locals.size(); ++i) {
    const Ref& local = frame.locals[i];
    bool made_anew = local && local->is_one_of_several && frame.is_live(i, waits);
    if (made_anew && (local->kind == AbstractKind::tuple || dtype_kind(local->scalar.dtype) == 'f' ||
                      dtype_kind(local->scalar.dtype) == 'c'))
      throw Refused{fail(Reason::unsupported_value, unknown_identity)};
  }
}

// Code unit of an instruction that returns; -1: there is none.
int return_offset_of(const Bytecode& bytecode) {
  for (const Instruction& instruction : bytecode.instructions)
    if (instruction.op == Opcode::return_value) return instruction.offset;
  return -1;
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

Status Interpreter::leave_for(const Plan::PlannedExit& planned) {
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
Status Interpreter::leave_earlier(const Plan::PlannedExit& planned) {
  if (plan_.watch && writable_ < 0) return fail(Reason::internal_error, "no frame can be rebuilt");
  if (plan_.watch) {
    Plan::PlannedExit moved = planned;
    moved.place.clear();
    // Not every call that leaves there gets as far as the error.
    if (ends_exceptionally(moved.why.reason) && forks_ != writable_forks_)
      moved.why = fail(Reason::unsupported_value, "alive before: " + moved.why.detail);
    if (!plan_.end_at(writable_, std::move(moved))) return fail(Reason::internal_error, "an exit that cannot be moved");
  }
  plan_.watch = true;
  throw Restart{};
}

// A loop whose variables never get settled types: its header is left for the interpreter.
Status Interpreter::give_up_loop() {
  Plan::PlannedExit planned;
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
  Plan::PlannedExit planned;
  planned.why = why;
  if (why.reason != Reason::will_raise && is_raising())
    planned.why = fail(Reason::will_raise, "on the way to an exception: " + why.detail);
  planned.failed = std::max<int64_t>(position_, 1);
  if (depth_before_ > 0 && why.reason != Reason::capture_budget) planned.place = place_name(frames_before());
  std::vector<const Frame*> frames = frames_before();
  Location place = where(frames);
  if (place.source >= 0) planned.file = capture_.graph().sources[static_cast<size_t>(place.source)];
  planned.line = place.line;
  if (!plan_.end_at(position_, std::move(planned))) return fail(Reason::internal_error, "an exit that fails");
  throw Restart{};
}

// What fails in a rolled loop because it needs to know the round may work when the loop is evaluated round by round.
void Interpreter::unroll_instead(const Failure& why) {
  bool may_help = why.reason == Reason::unsettled_types || why.reason == Reason::unsupported_argument;
  bool needs_length = why.reason == Reason::unsupported_value || why.reason == Reason::unsupported_call ||
                      why.reason == Reason::data_dependent_branch;
  if (!may_help && !needs_length) return;
  std::string innermost = loop_of_operands(frames_before());
  if (plan_.unrolled.contains(innermost) || plan_.given_up.contains(innermost)) innermost.clear();
  if (!innermost.empty()) return unroll(innermost);
  if (!may_help) return;
  for (const Frame* frame : frames_before()) {
    for (const auto& [header, name] : frame->rolled) {
      if (frame->flow().is_inside(frame->next, header) && plan_.unrolled.count(name) == 0 && plan_.given_up.count(name) == 0)
        innermost = name;
    }
  }
  if (!innermost.empty()) unroll(innermost);
}

void Interpreter::unroll(const std::string& loop) {
  plan_.unrolled.insert(loop);
  plan_.forget_numbering();
  throw Restart{};
}

// What capture looks at from an exit to the instruction that failed is why this version ends here: its guards stay, nothing
// else.
void Interpreter::guard_what_follows(const Plan::PlannedExit& planned) {
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

Result<std::vector<FrameRecipe>> Interpreter::write_frames(RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                                           bool all_wait) const {
  std::vector<FrameRecipe> recipes;
  for (const Frame* frame : frames) {
    const auto& instructions = frame->bytecode().instructions;
    const Instruction& next = instructions[static_cast<size_t>(frame->next)];
    if (!next.is_resume_point()) return fail(Reason::internal_error, "not a resume point");
    FrameRecipe recipe;
    ACCEL_TRY(recipe.function, writer.write(frame->function));
    recipe.code = frame->bytecode().code;
    recipe.offset = next.offset;
    bool waits = all_wait || frame != frames.back();
    if (waits) recipe.call_offset = instructions[static_cast<size_t>(frame->next) - 1].fault_offset;
    if (waits) recipe.return_offset = return_offset_of(frame->bytecode());
    for (size_t i = 0; i < frame->locals.size(); ++i) {
      const Ref& local = frame->locals[i];
      bool needed = local && (frame->is_live(i, waits) || is_free(local) || is_of_a_call(local));
      ACCEL_TRY(RecipeId id, writer.write(needed ? local : null_));
      recipe.locals.push_back(id);
    }
    for (const Ref& value : frame->stack) {
      ACCEL_TRY(RecipeId id, writer.write(value));
      recipe.stack.push_back(id);
    }
    if (!writer.probes()) check_identities(*frame, waits);
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

// Names that are never read again count as references to what is there anyway.
void Interpreter::add_dead_names(const RecipeWriter& writer, const std::vector<const Frame*>& frames,
                                 std::vector<FrameRecipe>& recipes) const {
  for (size_t f = 0; f < recipes.size(); ++f) {
    for (size_t i = 0; i < frames[f]->locals.size(); ++i) {
      const Ref& local = frames[f]->locals[i];
      const RecipeId id = local && local->source < 0 ? writer.written(local) : -1;
      if (id >= 0) recipes[f].locals[i] = id;
    }
  }
}

Result<std::vector<FrameRecipe>> Interpreter::write_exit(RecipeWriter& writer, const std::vector<const Frame*>& frames) {
  auto walked = std::find_if(frames.begin(), frames.end(), [](const Frame* frame) { return frame->before_call != nullptr; });
  if (walked == frames.end()) {
    ACCEL_TRY([[maybe_unused]] Unit stored, writer.write_stores());
    ACCEL_TRY(std::vector<FrameRecipe> recipes, write_frames(writer, frames));
    add_dead_names(writer, frames, recipes);
    return recipes;
  }
  const PathState& before = *(*walked)->before_call;
  if (before.lasting_effects != capture_.lasting_effects())
    return fail(Reason::generator, "a generator that has changed something");
  PathState now;
  now.keep_objects = before.keep_objects;
  now.keep_storages = before.keep_storages;
  for (const Ref& value : now.keep_objects) now.objects.emplace(value.get(), *value);
  for (const auto& storage : now.keep_storages) now.storages.emplace(storage.get(), *storage);
  restore_objects(before);
  std::vector<const Frame*> outer;
  for (const Frame& frame : before.frames) outer.push_back(&frame);
  Result<std::vector<FrameRecipe>> written = write_frames(writer, outer);
  Status stored = writer.write_stores();
  restore_objects(now);
  if (!stored.ok()) return stored.failure();
  return written;
}

// The frames in which an exception is raised, with what their handlers need. Requires no generators.
Result<std::vector<FrameRecipe>> Interpreter::write_raising_frames(RecipeWriter& writer,
                                                                   const std::vector<const Frame*>& frames) const {
  std::vector<FrameRecipe> recipes;
  for (const Frame* frame : frames) {
    const Bytecode& bytecode = frame->bytecode();
    const bool waits = frame != frames.back();
    const Instruction& next = bytecode.instructions[static_cast<size_t>(frame->next)];
    const Instruction& raises = waits ? bytecode.instructions[static_cast<size_t>(frame->next) - 1] : next;
    const Handler* handler = raises.handler >= 0 ? &bytecode.handlers[static_cast<size_t>(raises.handler)] : nullptr;
    FrameRecipe recipe;
    ACCEL_TRY(recipe.function, writer.write(frame->function));
    recipe.offset = next.offset;
    if (waits) recipe.call_offset = raises.fault_offset, recipe.return_offset = return_offset_of(bytecode);
    for (size_t i = 0; i < frame->locals.size(); ++i) {
      const Ref& local = frame->locals[i];
      bool needed = local && (is_free(local) || (handler != nullptr && frame->flow().is_live(handler->target, i)));
      ACCEL_TRY(RecipeId id, writer.write(needed ? local : null_));
      recipe.locals.push_back(id);
    }
    for (int k = 0; handler != nullptr && k < handler->depth; ++k) {
      ACCEL_TRY(RecipeId id, writer.write(frame->stack[static_cast<size_t>(k)]));
      recipe.stack.push_back(id);
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

// Where the path has come back to a loop, a run that is interrupted leaves. `waits`: nothing that the loop does makes it end;
// then a run also leaves where what its guards say has changed, and hands all over. The exit is that of the jump back if it
// hands nothing over; else that of the block that is returned, which is branched to.
BlockId Interpreter::add_interrupt(const PathState& arrival, bool waits) {
  if (speculative_) return -1;
  restore(arrival);
  const std::vector<const Frame*> frames = live_frames();
  const bool resumes = std::all_of(frames.begin(), frames.end(), [](const Frame* frame) {
    const bool is_place = frame->bytecode().instructions[static_cast<size_t>(frame->next)].is_resume_point();
    return is_place && frame->generator == nullptr && frame->before_call == nullptr && !frame->nested;
  });
  BlockId way_out = -1;
  const bool is_free = resumes && !waits && add_free_interrupt(arrival);
  // In loops within others it is those that leave.
  if (resumes && !is_free && (waits || arrival.passed.size() <= 1)) way_out = add_whole_interrupt();
  if (resumes && waits && way_out < 0) add_free_interrupt(arrival);
  frames_.clear();
  return way_out;
}

// A block that hands over all that is alive; -1: that cannot be done.
BlockId Interpreter::add_whole_interrupt() {
  Graph& graph = capture_.graph();
  const size_t blocks = graph.blocks.size();
  const BlockId way_out = capture_.build().new_block();
  capture_.build().move_to(way_out);
  RecipeWriter writer(capture_);
  capture_.keep_symbols(false);
  Result<std::vector<FrameRecipe>> written = write_exit(writer, live_frames());
  capture_.keep_symbols(true);
  if (!written.ok()) {
    graph.blocks.resize(blocks);
    return -1;
  }
  Exit exit;
  exit.kind = ExitKind::resume;
  exit.is_check = true;
  exit.frames = std::move(*written);
  exit.reason = Reason::interrupted;
  exit.where = where(live_frames());
  end_block(writer, std::move(exit));
  return way_out;
}

// Whether nothing that was computed has to be handed over: then the exception is raised in frames at the loop's header.
bool Interpreter::add_free_interrupt(const PathState& arrival) {
  Graph& graph = capture_.graph();
  const std::vector<const Frame*> frames = live_frames();
  const size_t blocks = graph.blocks.size();
  const BlockId probe = capture_.build().new_block();
  capture_.build().move_to(probe);
  RecipeWriter writer(capture_);
  WalkExit end;
  Result<std::vector<FrameRecipe>> written = write_raising_frames(writer, frames);
  const bool stored = written.ok() && writer.write_stores().ok();
  if (stored) end.exit.symbols = writer.write_symbols(), end.exit.stores = writer.take_stores();
  const bool is_free =
      stored && end.exit.stores.empty() && writer.outputs().empty() && graph.blocks[static_cast<size_t>(probe)].nodes.empty();
  graph.blocks.resize(blocks);
  if (!is_free) return false;
  end.block = -1;
  end.polled = arrival.block;
  end.exit.kind = ExitKind::resume;
  end.exit.is_check = true;
  end.exit.frames = std::move(*written);
  end.exit.reason = Reason::interrupted;
  end.exit.where = where(frames);
  end.recipes = writer.take_recipes();
  exits_.push_back(std::move(end));
  return true;
}

namespace {

// Blocks from which the latch is reached without passing the header again.
std::set<BlockId> blocks_of_loop(const Graph& graph, BlockId header, BlockId latch) {
  const std::vector<std::vector<BlockId>> before = predecessors(graph);
  std::set<BlockId> loop = {header};
  std::vector<BlockId> open = {latch};
  while (!open.empty()) {
    const BlockId block = open.back();
    open.pop_back();
    if (!loop.insert(block).second) continue;
    const auto& more = before[static_cast<size_t>(block)];
    open.insert(open.end(), more.begin(), more.end());
  }
  return loop;
}

// Values of a loop that may differ from iteration to iteration.
class LoopValues {
 public:
  LoopValues(const Graph& graph, const std::set<BlockId>& loop) : graph_(graph), loop_(loop) {
    for (const auto& [symbol, binding] : bound_symbols(graph))
      if (loop.contains(binding.block)) symbols_.push_back(symbol);
  }

  bool varies(ValueId v) const {
    std::set<ValueId> seen;
    std::vector<ValueId> open = {v};
    while (!open.empty()) {
      const ValueId each = open.back();
      open.pop_back();
      if (!loop_.contains(graph_.values[static_cast<size_t>(each)].block) || !seen.insert(each).second) continue;
      if (graph_.is_input(each)) return true;
      const Node& node = graph_.producer(each);
      if (op_class(node.op) == OpClass::boxed || names_symbol(node.attrs.dims) || names_symbol(node.attrs.steps)) return true;
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    }
    return false;
  }

 private:
  bool names_symbol(const std::vector<Dim>& dims) const {
    return std::any_of(dims.begin(), dims.end(), [&](Dim d) {
      return std::any_of(symbols_.begin(), symbols_.end(), [&](int symbol) { return graph_.dims.names(d, symbol); });
    });
  }

  const Graph& graph_;
  const std::set<BlockId>& loop_;
  std::vector<int> symbols_;  // that get their values in the loop
};

// Of branches that lead out of the loop in the ordinary course of things.
std::vector<ValueId> conditions_of_ends(const Graph& graph, const std::set<BlockId>& loop) {
  std::vector<ValueId> out;
  for (const BlockId block : loop) {
    const Terminator& end = graph.blocks[static_cast<size_t>(block)].terminator;
    for (int k = 0; end.kind == TerminatorKind::branch && k < 2; ++k) {
      if (loop.contains(end.targets[k])) continue;
      const bool is_check = graph.blocks[static_cast<size_t>(end.targets[k])].terminator.kind == TerminatorKind::leave;
      if (!is_check) out.push_back(end.operands[0]);
    }
  }
  return out;
}

}  // namespace

// Whether nothing that the loop does makes it end: it waits for somebody to change what guards speak of, or an array.
bool Interpreter::waits_for_others(BlockId header, BlockId latch) const {
  const Graph& graph = capture_.graph();
  const std::set<BlockId> loop = blocks_of_loop(graph, header, latch);
  const LoopValues values(graph, loop);
  const std::vector<ValueId> ends = conditions_of_ends(graph, loop);
  return std::none_of(ends.begin(), ends.end(), [&](ValueId v) { return values.varies(v); });
}

namespace {

// Whether other code may have bound a place to something else by now. Callables, modules and arrays stay where they are.
bool may_change(const Sources& sources, const AbstractValue& value) {
  PyObject* object = value.object.get();
  if (value.source < 0 || value.kind == AbstractKind::array) return false;
  if (object != nullptr && (is_exact_array(object) || PyCallable_Check(object) != 0 || PyModule_Check(object))) return false;
  switch (sources[value.source].kind) {
    case SourceKind::local:
      return value.kind == AbstractKind::list || value.kind == AbstractKind::dict;  // what it holds
    case SourceKind::pinned:
      return false;
    default:
      return true;
  }
}

}  // namespace

// Whether the instruction that has run gave what somebody else may change.
void Interpreter::note_reading() {
  if (passed_.empty() || frames_.empty() || frames_.back()->in_library || frames_.back()->stack.empty()) return;
  const Ref& value = frames_.back()->stack.back();
  has_read_ = has_read_ || (value && may_change(capture_.sources(), *value));
}

void Interpreter::note_known_jump(int taken, int untaken) {
  if (!has_read_ || passed_.empty() || frames_.back()->in_library) return;
  const CodeFlow& flow = frames_.back()->flow();
  std::vector<int> headers = flow.headers_around(frames_.back()->previous);
  headers.push_back(-1);
  const bool leaves =
      std::any_of(headers.begin(), headers.end(), [&](int header) { return flow.leaves_instead(untaken, taken, header); });
  if (leaves) known_flags_.insert(capture_.build().block());
}

// Whether what somebody else may change can make the loop end, or the path leave it.
bool Interpreter::asks_others(BlockId header, BlockId latch) const {
  const Graph& graph = capture_.graph();
  const std::set<BlockId> loop = blocks_of_loop(graph, header, latch);
  if (std::any_of(loop.begin(), loop.end(), [&](BlockId block) { return known_flags_.contains(block); })) return true;
  const LoopValues values(graph, loop);
  return std::any_of(loop.begin(), loop.end(), [&](BlockId block) {
    const Terminator& end = graph.blocks[static_cast<size_t>(block)].terminator;
    if (end.kind != TerminatorKind::branch || !flags_.contains(end.operands[0]) || values.varies(end.operands[0])) return false;
    return !loop.contains(end.targets[0]) || !loop.contains(end.targets[1]);
  });
}

// Arrays of the caller that the loop does not change, and whose elements decide whether it ends.
std::set<std::string> Interpreter::arrays_awaited(BlockId header, BlockId latch) const {
  const Graph& graph = capture_.graph();
  const std::set<BlockId> loop = blocks_of_loop(graph, header, latch);
  const LoopValues values(graph, loop);
  std::set<std::string> out;
  std::vector<ValueId> open;
  for (ValueId v : conditions_of_ends(graph, loop))
    if (!values.varies(v)) open.push_back(v);
  std::set<ValueId> seen;
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (!seen.insert(v).second) continue;
    if (!graph.is_input(v)) {
      const Node& node = graph.producer(v);
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    } else if (std::string array = capture_.array_of_input(v); !array.empty()) {
      out.insert(std::move(array));
    }
  }
  return out;
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
    capture_.keep_symbols(false);
    Result<std::vector<FrameRecipe>> frames = write_exit(writer, frames_before());
    capture_.keep_symbols(true);
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
