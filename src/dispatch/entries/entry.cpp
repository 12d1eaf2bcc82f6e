#include "dispatch/entries/entry.h"

#include <algorithm>

#include "dispatch/signals/interrupt.h"
#include "ir/analysis/flow.h"

namespace accel {
namespace {

int64_t next_serial() {
  static int64_t made = 0;
  return made++;
}

// The source of the array that is input `input` of the graph; -1 when the input is not an array.
SourceId source_of_array(const GuardSet& guards, const Graph& graph, int input) {
  if (graph.inputs[input].slot >= 0) return -1;
  auto is_array = [](const auto& other) { return other.slot < 0; };
  auto number = std::count_if(graph.inputs.begin(), graph.inputs.begin() + input, is_array);
  return guards.array_source(static_cast<int>(number));
}

// The kind of the root of a source.
SourceKind root_kind(const std::vector<Source>& sources, SourceId source) {
  while (sources[source].parent >= 0) source = sources[source].parent;
  return sources[source].kind;
}

bool is_of_argument(const std::vector<Source>& sources, SourceId source) {
  return source >= 0 && root_kind(sources, source) == SourceKind::local;
}

}  // namespace

Entry::Entry(Captured captured) : serial_(next_serial()), context_(std::move(captured)) {
  GuardSet& guards = context_.captured.guards;
  guards.wanted = context_.plan.held_sources;
  if (guards.wanted.empty() && !guards.sources.empty()) guards.wanted.push_back(0);
  guards.seal();
}

Binding Entry::binding_in(Workspace& space) const {
  const GuardSet& guards = context_.captured.guards;
  Binding binding;
  binding.symbols = space.take<int64_t>(context_.plan.symbol_count);
  binding.inputs = space.take<void*>(guards.input_count);
  binding.sources = space.take<PyObject*>(guards.sources.size());
  return binding;
}

bool Entry::fits(PyObject* function, PyObject* const* locals) const {
  Workspace space(context_.plan.words);
  Binding binding = binding_in(space);
  return context_.captured.guards.check(function, locals, binding);
}

Outcome Entry::run(PyObject* function, PyObject* const* locals, RunMode mode, PyObject** result) {
  if (!context_.events.compile_wanted()) {
    *result = interpret_interrupted(function, locals);
    return Outcome::interrupted;
  }
  Workspace space(context_.plan.words);
  Binding binding = binding_in(space);
  if (!context_.captured.guards.check(function, locals, binding)) return Outcome::no_match;
  if (!ready_ || context_.patience.skips()) return Outcome::interpret;
  Run run(context_, function, locals, binding, mode, space);
  return run.execute(result);
}

Status Entry::compile_native(bool keep_texts, bool uses_graphs) {
  Kernels& kernels = context_.kernels;
  ACCEL_TRY([[maybe_unused]] Unit compiled,
            captured().device >= 0 ? kernels.compile_for_device(keep_texts, uses_graphs) : kernels.compile_plain(keep_texts));
  ready_ = true;
  return Unit{};
}

Status Entry::compile_with(PyObject* backend, PyObject* function, PyObject* const* locals) {
  Workspace space(context_.plan.words);
  Binding binding = binding_in(space);
  if (!context_.captured.guards.check(function, locals, binding))
    return fail(Reason::internal_error, "the arguments changed meanwhile");
  ACCEL_TRY([[maybe_unused]] Unit compiled, context_.kernels.compile_with(backend, binding));
  ready_ = true;
  return Unit{};
}

void Entry::leave_to_interpreter(Reason reason, std::string detail) {
  ready_ = false;
  left_reason_ = reason;
  left_detail_ = std::move(detail);
}

bool Entry::does_nothing() const {
  const Graph& graph = captured().graph;
  return graph.blocks.size() == 1 && graph.outputs().empty() && !context_.plan.writes_inputs && !context_.plan.makes_calls &&
         std::all_of(graph.entry().nodes.begin(), graph.entry().nodes.end(),
                     [&](NodeId n) { return node_events(graph, graph.nodes[static_cast<size_t>(n)]) == 0; });
}

bool Entry::changes_only_arguments() const {
  if (context_.plan.calls_python) return false;
  const GuardSet& guards = captured().guards;
  for (int input : written_inputs(captured().graph)) {
    if (!is_of_argument(guards.sources, source_of_array(guards, captured().graph, input))) return false;
  }
  for (const Exit& exit : captured().exits) {
    for (const StoreRecipe& store : exit.stores) {
      const Recipe& object = captured().recipes[store.object];
      bool is_shared = object.kind == RecipeKind::source ? !is_of_argument(guards.sources, object.index)
                                                         : object.kind == RecipeKind::constant;
      if (is_shared) return false;
    }
  }
  return true;
}

bool Entry::fits_every_call() const {
  const GuardSet& guards = captured().guards;
  return std::none_of(guards.guards.begin(), guards.guards.end(), [&](const Guard& guard) {
    // Global names are assumed to remain bound to callables and modules, or unbound; other constants may change.
    PyObject* object = guard.kind == GuardKind::identity ? guard.object.get() : nullptr;
    bool stays = object != nullptr ? PyCallable_Check(object) != 0 || PyModule_Check(object)
                                   : guard.kind == GuardKind::bound || guard.kind == GuardKind::unbound;
    if (guard.source < 0 || !stays) return true;
    SourceKind root = root_kind(guards.sources, guard.source);
    return root != SourceKind::global && root != SourceKind::pinned;
  });
}

Fallback Entry::fallback() const {
  if (partial_exit() >= 0) return fallback_at(partial_exit());
  return accel::fallback_at(captured(), captured().exits[0].where, left_reason_, left_detail_);
}

Fallback Entry::fallback_at(int number) const {
  const Exit& exit = captured().exits[number];
  return accel::fallback_at(captured(), exit.where, exit.reason, exit.detail);
}

std::optional<Reason> Entry::met_other_way() const {
  Reason reason = captured().exits[static_cast<size_t>(history().last_exit())].reason;
  return is_learned(reason) && !captured().learned.contains(reason) ? std::optional(reason) : std::nullopt;
}

int Entry::traverse(visitproc visit, void* arg) const {
  if (int stop = captured().guards.traverse(visit, arg)) return stop;
  for (const Recipe& recipe : captured().recipes) Py_VISIT(recipe.object.get());
  for (const BoxedCall& call : captured().calls) {
    Py_VISIT(call.callable.get());
    for (const CallPart& part : call.arguments) Py_VISIT(part.object.get());
    if (!call.python) continue;
    for (const Recipe& recipe : call.python->recipes) Py_VISIT(recipe.object.get());
  }
  for (const EventSite& site : captured().event_sites) Py_VISIT(site.place.globals.get());
  if (int stop = context_.kernels.traverse(visit, arg)) return stop;
  return context_.events.traverse(visit, arg);
}

}  // namespace accel
