#include <algorithm>

#include "capture/context/context.h"
#include "capture/context/descent.h"
#include "capture/context/integers/unify_dims.h"
#include "capture/interpreter/interpreter.h"
#include "ir/analysis/flow.h"

namespace accel {

namespace {

constexpr int most_restarts = 1000;
constexpr int most_nodes = 3000;             // the compiler takes too long for more
constexpr int64_t most_walked = 200 * 1000;  // instructions, by all attempts together

// One attempt at a capture. Its state is discarded when it restarts.
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
    speculation_.control.watch = options_.stop_before_instruction > 0;
    speculation_.given.fixed_sizes = options_.fixed_sizes;
    speculation_.given.seen_results = options_.seen_results;
    speculation_.given.learned = options_.learned;
    Descent::begin_capture();
    speculation_.given.changed_constants = options_.changed_constants;
    ACCEL_TRY([[maybe_unused]] Unit walked, walk());
    const std::vector<WalkExit>& exits = attempt_.interpreter->exits().all();
    if (std::none_of(exits.begin(), exits.end(), [](const WalkExit& e) { return e.block >= 0; }))
      return fail(Reason::unsupported_value, "a loop that only calls of the process end");
    finish();
    return std::move(attempt_.captured);
  }

 private:
  // Runs attempts from the start until the speculation log no longer grows.
  Status walk() {
    WalkOptions options{options_.budget, most_nodes, -1, options_.trace, thread_seconds() + options_.seconds};
    if (options_.stop_before_instruction > 0) options.stop_at_writable = options_.stop_before_instruction;
    int64_t walked = 0;
    for (int i = 0; i < most_restarts; ++i) {
      attempt_ = Attempt();
      scope_.free_values();
      attempt_.state = std::make_unique<Capture>(attempt_.captured.graph, attempt_.captured.guards, speculation_);
      attempt_.interpreter = std::make_unique<Interpreter>(*attempt_.state, options);
      attempt_.captured.code = PyRef::borrow(PyFunction_GetCode(function_));
      try {
        ACCEL_TRY([[maybe_unused]] Unit entered, attempt_.interpreter->enter(function_, locals_, local_count_));
        return attempt_.interpreter->run();
      } catch (const Restart&) {
      } catch (const FunctionBailout& bailout) {
        return bailout.why;
      }
      walked += attempt_.interpreter->instructions();
      if (walked > most_walked) return fail(Reason::capture_budget, std::to_string(walked) + " instructions in all attempts");
    }
    return fail(Reason::capture_budget, std::to_string(most_restarts) + " attempts");
  }

  void finish() {
    Captured& captured = attempt_.captured;
    captured.learned = options_.learned;
    captured.event_sites = std::move(attempt_.state->events().sites());
    number_exits();
    captured.guards.dims = captured.graph.dims;
    for (const Recipe& recipe : captured.recipes) {
      if (recipe.kind == RecipeKind::source) captured.guards.wanted.push_back(recipe.index);
    }
    captured.notes = std::move(attempt_.state->notes());
    captured.calls = std::move(attempt_.state->calls());
    captured.trace = std::move(attempt_.interpreter->trace());
    captured.instructions = attempt_.interpreter->instructions();
    captured.worth_compiling = (has_flow(captured.graph) && has_work(captured)) || computes_something(captured.graph);
    unify_dims(captured.graph, captured.guards);
    attempt_.interpreter.reset();
    attempt_.state.reset();
  }

  // Exit 0 is the first return, else the first exit that is no check.
  void number_exits() {
    std::vector<WalkExit> exits = std::move(attempt_.interpreter->exits().all());
    auto first = std::find_if(exits.begin(), exits.end(), [](const WalkExit& e) { return e.exit.kind == ExitKind::ret; });
    if (first == exits.end())
      first = std::find_if(exits.begin(), exits.end(), [](const WalkExit& e) { return !e.exit.is_check; });
    if (first == exits.end()) first = std::find_if(exits.begin(), exits.end(), [](const WalkExit& e) { return e.block >= 0; });
    if (first != exits.end()) std::rotate(exits.begin(), first, first + 1);
    int output = 0;
    for (size_t number = 0; number < exits.size(); ++number) {
      const int exit = static_cast<int>(number);
      if (exits[number].block < 0) {
        attempt_.captured.graph.blocks[static_cast<size_t>(exits[number].polled)].terminator.poll = exit;
        attempt_.captured.graph.closed_exits[exit];
      } else {
        Terminator& terminator = attempt_.captured.graph.blocks[static_cast<size_t>(exits[number].block)].terminator;
        terminator.kind = number == 0 ? TerminatorKind::ret : TerminatorKind::leave;
        terminator.exit = exit;
      }
      output = add_exit(std::move(exits[number]), output);
    }
  }

  // Recipes and outputs are numbered across all exits. Returns the number of the next exit's first output.
  int add_exit(WalkExit end, int first_output) {
    std::vector<Recipe>& recipes = attempt_.captured.recipes;
    int first_recipe = static_cast<int>(recipes.size());
    auto move = [&](RecipeId& id) { id += id >= 0 ? first_recipe : 0; };
    for (Recipe& recipe : end.recipes) {
      for (RecipeId& part : recipe.parts) move(part);
      if (names_output(recipe.kind)) recipe.index += first_output;
      recipes.push_back(std::move(recipe));
    }
    Exit& exit = end.exit;
    move(exit.result);
    for (FrameRecipe& frame : exit.frames) {
      move(frame.function);
      for (RecipeId& id : frame.locals) move(id);
      for (RecipeId& id : frame.stack) move(id);
    }
    for (StoreRecipe& store : exit.stores) {
      for (RecipeId* id : {&store.object, &store.name, &store.value}) move(*id);
    }
    for (BoundSymbol& bound : exit.symbols) bound.output += first_output;
    attempt_.captured.exits.push_back(std::move(exit));
    return first_output + static_cast<int>(end.outputs.size());
  }

  // Whether there is work beyond calls that are not captured, or that is not known yet.
  static bool has_work(const Captured& captured) {
    const Graph& graph = captured.graph;
    if (std::any_of(captured.exits.begin(), captured.exits.end(), [](const Exit& exit) { return exit.is_behind_call; }))
      return true;
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.op == Op::python_call; }))
      return true;
    auto works = [](const Node& node) {
      OpClass kind = op_class(node.op);
      return kind != OpClass::leaf && kind != OpClass::view && kind != OpClass::boxed && node.op != Op::reload;
    };
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), works);
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
  SpeculationLog speculation_;
  ValueScope scope_;
  Attempt attempt_;
};

}  // namespace

Result<Captured> capture(PyObject* function, PyObject* const* locals, int local_count, const CaptureOptions& options) {
  return Session(function, locals, local_count, options).run();
}

}  // namespace accel
