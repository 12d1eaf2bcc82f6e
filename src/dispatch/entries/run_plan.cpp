#include "dispatch/entries/run_plan.h"

#include "dispatch/signals/interrupt.h"
#include "ir/analysis/flow.h"

namespace accel {
namespace {

constexpr size_t words_of_draw = sizeof(AccelDraw) / sizeof(void*);

void add_sources(const CallPart& part, std::set<SourceId>& out) {
  if (part.source >= 0) out.insert(part.source);
  for (const CallPart& item : part.items) add_sources(item, out);
}

// Whether the object cannot be changed, nor be distinguished from a new one.
bool is_immutable(const Recipe& recipe) {
  switch (recipe.kind) {
    case RecipeKind::constant:
    case RecipeKind::source:
    case RecipeKind::output_numpy:
    case RecipeKind::output_python:
    case RecipeKind::dim_python:
    case RecipeKind::dim_numpy:
    case RecipeKind::selected:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_exceptional(const Captured& captured, int number) {
  const Exit& exit = captured.exits[number];
  return exit.is_behind_call || (captured.graph.blocks.size() > 1 && (exit.is_check || ends_exceptionally(exit.reason)));
}

Fallback fallback_at(const Captured& captured, Location where, Reason reason, std::string detail) {
  const std::vector<std::string>& files = captured.graph.sources;
  const bool is_known = where.source >= 0 && where.source < static_cast<int>(files.size());
  return {reason, std::move(detail), is_known ? files[where.source] : std::string(), where.line};
}

RunPlan::RunPlan(const Captured& captured)
    : outputs(captured.graph, captured.recipes),
      python_calls(python_call_plans(captured)),
      work(captured.graph),
      writes_inputs(!written_inputs(captured.graph).empty()),
      makes_calls(!captured.calls.empty()) {
  const GuardSet& guards = captured.guards;
  std::set<SourceId> wanted;
  for (const Guard& guard : guards.guards)
    if (guard.kind == GuardKind::array && guard.array.input >= 0) wanted.insert(guard.source);
  find_exits(captured);
  for (const Exit& exit : captured.exits) {
    materialisers.emplace_back(captured.recipes, exit, captured.graph.dims, outputs);
    for (SourceId source : materialisers.back().sources()) wanted.insert(source);
  }
  for (int input = 0; makes_calls && input < guards.input_count; ++input) input_arrays.push_back(guards.array_source(input));
  add_calls(captured, wanted);
  if (!calls_python) find_published(captured);
  held_sources.assign(wanted.begin(), wanted.end());
  symbol_count = accel::symbol_count(captured);
  words = symbol_count + guards.input_count + guards.sources.size() + 4 * outputs.count() + captured.recipes.size() +
          words_of_draw * captured.calls.size();
}

void RunPlan::find_exits(const Captured& captured) {
  for (int exit = static_cast<int>(captured.exits.size()); exit-- > 0;) {
    if (captured.exits[exit].kind == ExitKind::resume && !is_exceptional(captured, exit)) partial_exit = exit;
    has_interrupts |= is_interrupt(captured.exits[exit]);
  }
}

void RunPlan::add_calls(const Captured& captured, std::set<SourceId>& wanted) {
  for (const BoxedCall& call : captured.calls) {
    for (const CallPart& part : call.arguments) add_sources(part, wanted);
    calls_python |= call.python != nullptr;
  }
  for (const auto& plan : python_calls) {
    if (!plan) continue;
    for (SourceId source : plan->materialiser.sources()) wanted.insert(source);
  }
}

void RunPlan::find_published(const Captured& captured) {
  for (size_t exit = 0; exit < captured.exits.size(); ++exit) {
    if (!is_interrupt(captured.exits[exit])) continue;
    Exit shown;
    shown.kind = ExitKind::resume;
    shown.symbols = captured.exits[exit].symbols;
    for (const StoreRecipe& store : captured.exits[exit].stores)
      if (is_immutable(captured.recipes[static_cast<size_t>(store.value)])) shown.stores.push_back(store);
    if (shown.stores.empty()) continue;
    Materialiser materialiser(captured.recipes, shown, captured.graph.dims, outputs);
    published.emplace(static_cast<int>(exit), PublishedStores{std::move(shown), std::move(materialiser)});
  }
}

}  // namespace accel
