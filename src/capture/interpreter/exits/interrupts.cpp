#include "capture/interpreter/exits/interrupts.h"

#include <algorithm>

#include "capture/interpreter/interpreter.h"
#include "ir/analysis/flow.h"
#include "ndarray/array.h"

namespace accel {

BlockId LoopInterrupts::add(const PathState& arrival, bool waits) {
  if (walk_.speculative) return -1;
  walk_.restore(capture_, arrival);
  const std::vector<const Frame*> frames = walk_.live_frames();
  const bool resumes = std::all_of(frames.begin(), frames.end(), [](const Frame* frame) {
    const bool is_place = frame->bytecode().instructions[static_cast<size_t>(frame->next)].is_resume_point();
    return is_place && frame->generator == nullptr && frame->before_call == nullptr && !frame->nested;
  });
  BlockId exit_block = -1;
  const bool is_free = resumes && !waits && add_free(arrival);
  // An inner loop is left through the exit of the outer one.
  if (resumes && !is_free && (waits || arrival.passed.size() <= 1)) exit_block = add_whole();
  if (resumes && waits && exit_block < 0) add_free(arrival);
  walk_.frames.clear();
  return exit_block;
}

// Adds a block with an exit that hands over all live values; -1: they cannot be handed over.
BlockId LoopInterrupts::add_whole() {
  Graph& graph = capture_.graph();
  const size_t blocks = graph.blocks.size();
  const BlockId exit_block = capture_.build().new_block();
  capture_.build().move_to(exit_block);
  RecipeWriter writer(capture_);
  capture_.facts().keep_symbols(false);
  Result<std::vector<FrameRecipe>> written = interpreter_.exits().write_exit(writer, walk_.live_frames());
  capture_.facts().keep_symbols(true);
  if (!written.ok()) {
    graph.blocks.resize(blocks);
    return -1;
  }
  Exit exit;
  exit.kind = ExitKind::resume;
  exit.is_check = true;
  exit.frames = std::move(*written);
  exit.reason = Reason::interrupted;
  exit.where = interpreter_.exits().where(walk_.live_frames());
  interpreter_.exits().end_block(writer, std::move(exit));
  return exit_block;
}

// Adds an exit that raises the exception in frames at the header of the loop. False if it would have to hand over computed
// values.
bool LoopInterrupts::add_free(const PathState& arrival) {
  Graph& graph = capture_.graph();
  const std::vector<const Frame*> frames = walk_.live_frames();
  const size_t blocks = graph.blocks.size();
  const BlockId probe = capture_.build().new_block();
  capture_.build().move_to(probe);
  RecipeWriter writer(capture_);
  WalkExit end;
  Result<std::vector<FrameRecipe>> written = interpreter_.exits().write_raising_frames(writer, frames);
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
  end.exit.where = interpreter_.exits().where(frames);
  end.recipes = writer.take_recipes();
  interpreter_.exits().all().push_back(std::move(end));
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

// Tests which values of a loop may vary between its iterations.
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
  std::vector<int> symbols_;  // bound in the loop
};

// Conditions of branches that leave the loop, without those of checks.
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

// Whether nothing in the loop makes it end, so that it waits until another thread changes a guarded object or an array.
bool LoopInterrupts::waits_for_others(BlockId header, BlockId latch) const {
  const Graph& graph = capture_.graph();
  const std::set<BlockId> loop = blocks_of_loop(graph, header, latch);
  const LoopValues values(graph, loop);
  const std::vector<ValueId> ends = conditions_of_ends(graph, loop);
  return std::none_of(ends.begin(), ends.end(), [&](ValueId v) { return values.varies(v); });
}

namespace {

// Whether other code may have replaced the object at the value's source by now. Callables, modules and arrays are assumed not
// to be replaced.
bool may_change(const Sources& sources, const AbstractValue& value) {
  PyObject* object = value.object.get();
  if (value.source < 0 || value.kind == AbstractKind::array) return false;
  if (object != nullptr && (is_exact_array(object) || PyCallable_Check(object) != 0 || PyModule_Check(object))) return false;
  switch (sources[value.source].kind) {
    case SourceKind::local:
      return value.kind == AbstractKind::list || value.kind == AbstractKind::dict;  // its items may change
    case SourceKind::pinned:
      return false;
    default:
      return true;
  }
}

}  // namespace

void LoopInterrupts::note_reading() {
  if (walk_.passed.empty() || walk_.frames.empty() || walk_.frames.back()->in_library || walk_.frames.back()->stack.empty())
    return;
  const Ref& value = walk_.frames.back()->stack.back();
  walk_.has_read = walk_.has_read || (value && may_change(capture_.sources(), *value));
}

void LoopInterrupts::note_branch(ValueId condition) {
  if (std::exchange(walk_.has_read, false)) tests_.insert(condition);
}

void LoopInterrupts::note_decided_jump(int taken, int untaken) {
  if (!walk_.has_read || walk_.passed.empty() || walk_.frames.back()->in_library) return;
  const CodeFlow& flow = walk_.frames.back()->flow();
  std::vector<int> headers = flow.headers_around(walk_.frames.back()->previous);
  headers.push_back(-1);
  const bool leaves =
      std::any_of(headers.begin(), headers.end(), [&](int header) { return flow.leaves_instead(untaken, taken, header); });
  if (leaves) decided_tests_.insert(capture_.build().block());
}

// Whether a test of a value that other threads may store decides whether the loop ends or the path leaves it.
bool LoopInterrupts::asks_others(BlockId header, BlockId latch) const {
  const Graph& graph = capture_.graph();
  const std::set<BlockId> loop = blocks_of_loop(graph, header, latch);
  if (std::any_of(loop.begin(), loop.end(), [&](BlockId block) { return decided_tests_.contains(block); })) return true;
  const LoopValues values(graph, loop);
  return std::any_of(loop.begin(), loop.end(), [&](BlockId block) {
    const Terminator& end = graph.blocks[static_cast<size_t>(block)].terminator;
    if (end.kind != TerminatorKind::branch || !tests_.contains(end.operands[0]) || values.varies(end.operands[0])) return false;
    return !loop.contains(end.targets[0]) || !loop.contains(end.targets[1]);
  });
}

// Sources of arrays that the loop does not change and whose elements decide whether it ends.
std::set<std::string> LoopInterrupts::arrays_awaited(BlockId header, BlockId latch) const {
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
    } else if (std::string array = capture_.memory().array_of_input(v); !array.empty()) {
      out.insert(std::move(array));
    }
  }
  return out;
}

bool LoopInterrupts::plan_waiting(const std::string& loop, BlockId header, const PathState& arrival) {
  if (walk_.speculative) return false;
  const bool only_others = waits_for_others(header, arrival.block);
  if (only_others || asks_others(header, arrival.block)) speculation_.loops.waiting.insert(loop);
  // An inner loop that can end by itself needs no reload: the outer loop reads the arrays again.
  if (!only_others && arrival.passed.size() > 1) return false;
  bool is_new = false;
  for (const std::string& array : arrays_awaited(header, arrival.block))
    is_new |= speculation_.loops.awaited[loop].insert(array).second;
  return is_new;
}

}  // namespace accel
