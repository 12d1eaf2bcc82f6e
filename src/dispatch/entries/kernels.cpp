#include "dispatch/entries/kernels.h"

#include <algorithm>
#include <utility>

#include "capture/product/rng_functions.h"
#include "dispatch/events/event_plan.h"
#include "dispatch/launch/draw_functions.h"
#include "dispatch/launch/library/device_libraries.h"
#include "dispatch/signals/unlocked.h"
#include "ir/analysis/flow.h"

namespace accel {
namespace {

// Whether all shapes of results are known before a run.
bool has_known_results(const Graph& graph) { return graph.blocks.size() == 1 && bound_symbols(graph).empty(); }

// Whether two graphs have the same numbers of outputs at each exit; dispatch relies on the captured ones.
bool same_outputs(const Graph& a, const Graph& b) {
  std::vector<ExitOutputs> exits_a = exits_of(a), exits_b = exits_of(b);
  return std::equal(exits_a.begin(), exits_a.end(), exits_b.begin(), exits_b.end(),
                    [](const ExitOutputs& x, const ExitOutputs& y) { return x.types.size() == y.types.size(); });
}

// Compiles without the GIL. Reason::interrupted: an exception is set.
Result<Compilation> compile_graph(Graph graph, CompileOptions options) {
  options.target.contracts_products = contracts_products();
  return call_unlocked([&] { return compile(std::move(graph), options); });
}

}  // namespace

Kernels::Kernels(const Captured& captured, const RunPlan& plan)
    : captured_(captured), plan_(plan), host_copies_(captured), draws_(captured.calls.size()) {}

Status Kernels::compile_plain(bool keep_texts) {
  // A device records no events, and runs on copies of its arrays report none either.
  always_records_ = host_copies_.device < 0 && records_at_no_cost(captured_.graph) && !plan_.calls_python;
  Result<Compilation> compiled = compile_graph(captured_.graph, {.keep_texts = keep_texts, .record_events = always_records_});
  if (!compiled.ok()) return compiled.failure();
  if (!same_outputs(captured_.graph, compiled->graph)) return fail(Reason::internal_error, "a pass changed the exits");
  if (always_records_) {
    ACCEL_TRY([[maybe_unused]] Unit added, add_recording(*compiled));
  }
  has_flow_ = accel::has_flow(compiled->graph);
  bool calls = plan_.makes_calls && !plan_.writes_inputs;
  ACCEL_TRY(plain_, resolve(*compiled, has_known_results(compiled->graph) && !calls));
  ACCEL_TRY([[maybe_unused]] Unit found, find_draw_functions());
  compilation_ = std::make_unique<Compilation>(std::move(compiled).value());
  return Unit{};
}

Status Kernels::compile_for_device(bool keep_texts, bool uses_graphs) {
  if (plan_.calls_python && captured_.guards.has_device_arrays())
    return fail(Reason::not_on_device, "a call of unknown code by a function of DeviceArrays");
  ACCEL_TRY(CudaDevice * device, CudaDevice::open(captured_.device));
  CompileOptions options{.keep_texts = keep_texts, .architecture = device->architecture()};
  options.target.kind = TargetKind::cuda;
  ACCEL_TRY(Compilation compiled, compile_graph(captured_.graph, options));
  if (!same_outputs(captured_.graph, compiled.graph)) return fail(Reason::internal_error, "a pass changed the exits");
  has_flow_ = accel::has_flow(compiled.graph);
  plain_.kernel = compiled.kernel;
  plain_.allocates_first = has_known_results(compiled.graph) && !plan_.makes_calls;
  bool may_raise = plan_.makes_calls;
  for (const LoopImport& import : compiled.kernel->imports()) {
    may_raise |= (op_events(import.op, import.dtypes.front()) & event_error) != 0;
    ACCEL_TRY(DeviceFunctionCall call, library_function(*device, import));
    plain_.imports.push_back(call.import);
    plain_.contexts.push_back(std::move(call.context));
  }
  const DeviceCode& code = compiled.device_code;
  auto is_for_host = [](const BoxedCall& call) { return !has_device_form(call.device_form); };
  if (plan_.makes_calls && code.kernels.empty() && std::ranges::all_of(captured_.calls, is_for_host))
    return fail(Reason::not_on_device, "a call that the interpreter makes");
  ACCEL_TRY(plain_.device_kernels, DeviceKernels::load(*device, code));
  ACCEL_TRY([[maybe_unused]] Unit found, find_draw_functions());
  device_plan_ = DevicePlan(captured_, code, *device, may_raise);
  if (uses_graphs) device_plan_.graphs = new_launch_graphs(*device);
  compilation_ = std::make_unique<Compilation>(std::move(compiled));
  return Unit{};
}

Status Kernels::compile_recording() {
  ACCEL_TRY(Compilation made, compile_graph(captured_.graph, {.record_events = true}));
  if (!same_outputs(captured_.graph, made.graph)) return fail(Reason::internal_error, "a pass changed the exits");
  return add_recording(made);
}

Status Kernels::compile_quiet() {
  ACCEL_TRY(Compilation quiet, compile_graph(captured_.graph, {.quiet_comparisons = true}));
  plain_.kernel = quiet.kernel;
  return Unit{};
}

Status Kernels::compile_with(PyObject* backend, const Binding& binding) {
  ACCEL_TRY(python_, PythonKernel::make(backend, captured_, binding));
  return Unit{};
}

// Adds the recording kernel. A graph with calls allocates results on demand, as a call's result may become a result of the
// kernel.
Status Kernels::add_recording(const Compilation& compilation) {
  bool allocates_first = has_known_results(compilation.graph) && (!plan_.makes_calls || plan_.writes_inputs);
  ACCEL_TRY(NativeKernel made, resolve(compilation, allocates_first));
  recording_ = std::make_unique<NativeKernel>(std::move(made));
  return Unit{};
}

Result<NativeKernel> Kernels::resolve(const Compilation& compilation, bool allocates_first) const {
  NativeKernel made;
  for (const LoopImport& import : compilation.kernel->imports()) {
    ACCEL_TRY(ResolvedLoop loop, resolve_loop(import));
    made.imports.push_back(loop.import);
    made.loops.push_back(std::move(loop));
  }
  made.kernel = compilation.kernel;
  made.allocates_first = allocates_first;
  return made;
}

// Finds the C functions of draws; without them the generators' methods are called.
Status Kernels::find_draw_functions() {
  auto draws = [](const BoxedCall& call) { return call.draw >= 0; };
  if (std::none_of(captured_.calls.begin(), captured_.calls.end(), draws)) return Unit{};
  ACCEL_TRY(const std::vector<void*>* found, draw_functions());
  const std::vector<void*>& functions = *found;
  if (functions.empty()) return Unit{};
  for (size_t k = 0; k < draws_.size(); ++k) {
    int row = captured_.calls[k].draw;
    if (row < 0) continue;
    const DrawInfo& info = draw_infos()[row];
    draws_[k] = {functions[row], nullptr, is_quiet(info), is_normal(info) ? functions.back() : nullptr};
    opens_draws_ = true;
  }
  return Unit{};
}

bool Kernels::signals_on_nans() const {
  if (!compilation_) return false;
  const Graph& graph = compilation_->graph;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    bool of_floats = !node.operands.empty() && dtype_kind(graph.type(node.operands[0]).dtype) == 'f';
    return of_floats && (signals_on_nan(node.op) || (node.op == Op::reduce && signals_on_nan(node.attrs.ufunc)));
  });
}

int Kernels::traverse(visitproc visit, void* arg) const {
  for (const ResolvedLoop& loop : plain_.loops) Py_VISIT(loop.keep_alive.get());
  if (recording_)
    for (const ResolvedLoop& loop : recording_->loops) Py_VISIT(loop.keep_alive.get());
  return python_ ? python_->traverse(visit, arg) : 0;
}

}  // namespace accel
