#include "capture/capture.h"

#include "capture/interpreter.h"
#include "capture/unify_dims.h"

namespace accel {

namespace {

constexpr int most_restarts = 1000;
constexpr int most_nodes = 8000;

// One attempt at a capture: the state is dropped when it restarts.
struct Attempt {
  Captured captured;
  std::unique_ptr<Capture> state;
  std::unique_ptr<Interpreter> interpreter;
};

class Session {
 public:
  Session(PyObject* function, PyObject* const* locals, int local_count, const CaptureOptions& options)
      : function_(function), locals_(locals), local_count_(local_count), options_(options) {}

  Result<Captured> run() {
    if (options_.stop_before_instruction > 0) {
      ACCEL_TRY(int64_t position, forced_exit());
      if (position >= 0) return exit_at(position, fail(Reason::unsupported_opcode, "an exit that was asked for"));
    }
    ACCEL_TRY(Interpreter::End end, attempt(-1, false));
    if (end == Interpreter::End::returned) {
      auto done = finish_return();
      if (done.ok()) return std::move(attempt_.captured);
      return exit_at(attempt_.interpreter->position(), done.failure());
    }
    Failure why = attempt_.interpreter->failure();
    return exit_at(attempt_.interpreter->position(), why);
  }

 private:
  // Interprets from the start until the end or before instruction `stop`, again and again while the plan grows.
  Result<Interpreter::End> attempt(int64_t stop, bool watch) {
    for (int i = 0; i < most_restarts; ++i) {
      attempt_ = Attempt();
      attempt_.state = std::make_unique<Capture>(attempt_.captured.graph, attempt_.captured.guards, &plan_);
      attempt_.interpreter = std::make_unique<Interpreter>(*attempt_.state, options_.budget, most_nodes);
      if (watch && stop < 0) attempt_.interpreter->stop_at_writable(options_.stop_before_instruction);
      try {
        ACCEL_TRY([[maybe_unused]] Unit entered, attempt_.interpreter->enter(function_, locals_, local_count_));
        return attempt_.interpreter->run(stop, watch);
      } catch (const Restart&) {
      }
    }
    return fail(Reason::internal_error, "capture does not settle");
  }

  // Position of the exit that the options ask for; -1: there are not that many.
  Result<int64_t> forced_exit() {
    ACCEL_TRY(Interpreter::End end, attempt(-1, true));
    return end == Interpreter::End::stopped ? attempt_.interpreter->position() : int64_t{-1};
  }

  // Leaves for the interpreter before instruction `position`, or before the last one at which all frames can be rebuilt.
  Result<Captured> exit_at(int64_t position, const Failure& why) {
    for (bool exact : {true, false}) {
      ACCEL_TRY(Interpreter::End end, attempt(position, !exact));
      Location where = attempt_.interpreter->where();
      if (!exact) {
        position = attempt_.interpreter->writable();
        ACCEL_TRY(end, attempt(position, false));
      }
      if (end != Interpreter::End::stopped) return fail(Reason::internal_error, "capture is not deterministic");
      if (exact) where_ = source_of(where);
      if (finish_resume(why).ok()) return std::move(attempt_.captured);
    }
    return fail(Reason::internal_error, "no frame can be rebuilt");
  }

  std::pair<std::string, int> source_of(Location where) const {
    const auto& sources = attempt_.captured.graph.sources;
    if (where.source < 0) return {std::string(), 0};
    return {sources[static_cast<size_t>(where.source)], where.line};
  }

  Status finish_return() {
    RecipeWriter writer(*attempt_.state);
    ACCEL_TRY(RecipeId result, writer.write(attempt_.interpreter->result()));
    Exit& exit = attempt_.captured.exits.emplace_back();
    exit.kind = ExitKind::ret;
    exit.result = result;
    finish(writer);
    return Unit{};
  }

  Status finish_resume(const Failure& why) {
    RecipeWriter writer(*attempt_.state);
    ACCEL_TRY(std::vector<FrameRecipe> frames, attempt_.interpreter->write_frames(writer));
    Exit& exit = attempt_.captured.exits.emplace_back();
    if (options_.stop_before_instruction <= 0) guard_what_follows();
    exit.kind = ExitKind::resume;
    exit.frames = std::move(frames);
    exit.reason = why.reason;
    exit.detail = why.detail;
    attempt_.state->set_location(where_.first, where_.second);
    exit.where = attempt_.state->location();
    attempt_.state->note(why.reason, why.detail);
    finish(writer);
    return Unit{};
  }

  // What capture looked at from the exit to the instruction that failed is why this version ends here: its guards stay, its
  // nodes do not.
  void guard_what_follows() {
    std::vector<NodeId>& nodes = attempt_.captured.graph.entry().nodes;
    size_t count = nodes.size();
    try {
      attempt_.interpreter->run(-1, false);
    } catch (const Restart&) {
      // The attempt ended there before as well: all guards that it could add are there.
    }
    nodes.resize(count);
  }

  void finish(RecipeWriter& writer) {
    Captured& captured = attempt_.captured;
    captured.graph.entry().terminator.operands = writer.outputs();
    captured.recipes = writer.take_recipes();
    captured.guards.dims = captured.graph.dims;
    for (const Recipe& recipe : captured.recipes) {
      if (recipe.kind == RecipeKind::source) captured.guards.wanted.push_back(recipe.index);
    }
    captured.notes = std::move(attempt_.state->notes());
    captured.instructions = attempt_.interpreter->instructions();
    captured.worth_compiling = computes_something(captured.graph);
    unify_dims(captured.graph, captured.guards);
    attempt_.interpreter.reset();
    attempt_.state.reset();
  }

  // Whether an output needs arithmetic.
  static bool computes_something(const Graph& graph) {
    std::vector<ValueId> open = graph.outputs();
    std::vector<bool> seen(graph.values.size(), false);
    while (!open.empty()) {
      ValueId value = open.back();
      open.pop_back();
      if (seen[static_cast<size_t>(value)] || graph.is_input(value)) continue;
      seen[static_cast<size_t>(value)] = true;
      const Node& node = graph.producer(value);
      OpClass op_kind = op_class(node.op);
      if (op_kind != OpClass::view && op_kind != OpClass::leaf) return true;
      open.insert(open.end(), node.operands.begin(), node.operands.end());
    }
    return false;
  }

  PyObject* function_;
  PyObject* const* locals_;
  int local_count_;
  CaptureOptions options_;
  Plan plan_;
  Attempt attempt_;
  std::pair<std::string, int> where_;
};

}  // namespace

Result<Captured> capture(PyObject* function, PyObject* const* locals, int local_count, const CaptureOptions& options) {
  return Session(function, locals, local_count, options).run();
}

}  // namespace accel
