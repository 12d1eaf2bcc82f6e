#include "dispatch/calls/checked_run.h"

#include <algorithm>
#include <cstddef>
#include <memory_resource>

namespace accel {

std::vector<std::unique_ptr<PythonCallPlan>> python_call_plans(const Captured& captured) {
  std::vector<std::unique_ptr<PythonCallPlan>> plans;
  for (const BoxedCall& call : captured.calls) {
    auto plan = call.python ? std::make_unique<PythonCallPlan>() : nullptr;
    if (plan) {
      plan->operands = OutputPlan(call.operands, captured.graph.dims, call.python->recipes);
      plan->materialiser = Materialiser(*call.python, captured.graph.dims, plan->operands);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

size_t symbol_count(const Captured& captured) {
  return std::max(static_cast<size_t>(captured.guards.symbol_count), captured.graph.symbols.size());
}

bool holds_as_checked(const CheckedRun& run, const std::vector<Replaced>* replaced) {
  const GuardSet& guards = run.captured->guards;
  const Binding& then = run.binding;
  std::byte room[1024];
  std::pmr::monotonic_buffer_resource memory(room, sizeof room);
  std::pmr::vector<int64_t> symbols(then.symbols, then.symbols + symbol_count(*run.captured), &memory);
  std::pmr::vector<void*> inputs(static_cast<size_t>(guards.input_count) + 1, &memory);
  std::pmr::vector<PyObject*> sources(then.sources, then.sources + guards.sources.size(), &memory);
  Binding now{symbols.data(), inputs.data(), sources.data(), replaced};
  if (!guards.check(run.function, run.locals, now)) return false;
  return std::equal(symbols.begin(), symbols.end(), then.symbols) &&
         std::equal(inputs.begin(), inputs.end() - 1, then.inputs) &&
         std::all_of(guards.wanted.begin(), guards.wanted.end(),
                     [&](SourceId source) { return sources[static_cast<size_t>(source)] == then.sources[source]; });
}

}  // namespace accel
