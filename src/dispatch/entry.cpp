#include "dispatch/entry.h"

#include <algorithm>

#include "codegen/kernel_abi.h"
#include "dispatch/errstate.h"
#include "dispatch/interrupt.h"
#include "dispatch/resume.h"
#include "dispatch/workspace.h"
#include "runtime/runtime.h"

namespace accel {
namespace {

// From this many element operations on, other threads may run meanwhile. Giving the GIL back and forth costs about 0.1 us.
constexpr int64_t unlocked_work = 50000;

// After this many calls in a row that an event spoilt, calls are skipped: 2, 4, 8, ... between two attempts.
constexpr int patience = 4;
constexpr int most_doublings = 14;

constexpr int floating_point_events = accel_divide | accel_overflow | accel_underflow | accel_invalid;

// Why a kernel that returned `status` gave up.
Reason reason_of(int status) {
  if ((status & accel_error) != 0) return Reason::will_raise;
  return (status & accel_no_memory) != 0 ? Reason::out_of_memory : Reason::internal_error;
}

const Exit* find_partial_exit(const Captured& captured) {
  bool is_straight = captured.graph.blocks.size() == 1;
  for (const Exit& exit : captured.exits) {
    bool is_exceptional = !is_straight && (exit.is_check || exit.reason == Reason::will_raise);
    if (exit.kind == ExitKind::resume && !is_exceptional) return &exit;
  }
  return nullptr;
}

}  // namespace

// What one call of the entry works with.
struct Entry::Call {
  PyObject* function;
  PyObject* const* locals;
  Binding binding;
  Outputs outputs;
  PyObject** objects;
};

Entry::Entry(Captured captured) : captured_(std::move(captured)) {
  GuardSet& guards = captured_.guards;
  plan_ = OutputPlan(captured_.graph, captured_.recipes);
  partial_exit_ = find_partial_exit(captured_);
  materialiser_ = Materialiser(captured_.recipes, captured_.exits[0], captured_.graph.dims, plan_);
  work_ = WorkEstimate(captured_.graph);
  guards.wanted = materialiser_.sources();
  for (const Guard& guard : guards.guards) {
    if (guard.kind == GuardKind::array && guard.array_input >= 0) array_sources_.push_back(guard.source);
  }
  guards.wanted.insert(guards.wanted.end(), array_sources_.begin(), array_sources_.end());
  if (guards.wanted.empty() && !guards.sources.empty()) guards.wanted.push_back(0);
  guards.seal();
}

size_t Entry::words() const {
  const GuardSet& guards = captured_.guards;
  return static_cast<size_t>(guards.symbol_count) + guards.input_count + guards.sources.size() + 4 * plan_.count() +
         materialiser_.object_count();
}

bool Entry::fits(PyObject* function, PyObject* const* locals) const {
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Binding binding;
  binding.symbols = space.take<int64_t>(guards.symbol_count);
  binding.inputs = space.take<void*>(guards.input_count);
  binding.sources = space.take<PyObject*>(guards.sources.size());
  return guards.check(function, locals, binding);
}

Outcome Entry::run(PyObject* function, PyObject* const* locals, PyObject** result) {
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Call call;
  call.function = function;
  call.locals = locals;
  call.binding.symbols = space.take<int64_t>(guards.symbol_count);
  call.binding.inputs = space.take<void*>(guards.input_count);
  call.binding.sources = space.take<PyObject*>(guards.sources.size());
  if (!guards.check(function, locals, call.binding)) return Outcome::no_match;
  if (!ready_ || skip_this_call()) return Outcome::interpret;
  call.outputs.arrays = space.take<PyObject*>(plan_.count());
  call.outputs.data = space.take<void*>(plan_.count());
  call.outputs.numbers = space.take<int64_t>(2 * plan_.count());
  call.objects = space.take<PyObject*>(materialiser_.object_count());
  return launch(call, result);
}

bool Entry::skip_this_call() {
  if (calls_to_skip_ == 0) return false;
  calls_to_skip_--;
  return true;
}

Outcome Entry::launch(Call& call, PyObject** result) {
  problem_ = {};
  int status = run_kernel(call);
  if (status != 0) {
    Outcome outcome = judge(status);
    if (outcome != Outcome::returned) {
      if (outcome != Outcome::interrupted) PyErr_Clear();
      plan_.release(call.outputs);
      return outcome;
    }
  }
  event_streak_ = 0;
  runs_++;
  return finish(call, result);
}

// Outcome::returned when the results stand.
Outcome Entry::judge(int status) {
  if ((status & accel_interrupted) != 0 && PyErr_Occurred()) return Outcome::interrupted;
  if ((status & ~floating_point_events) != 0) {
    if (problem_.detail.empty()) problem_ = fail(reason_of(status), {});
    return Outcome::gave_up;
  }
  if (events_are_ignored(status)) return Outcome::returned;
  events_++;
  if (++event_streak_ >= patience) calls_to_skip_ = int64_t{1} << std::min(event_streak_ - patience + 1, most_doublings);
  return Outcome::events;
}

int Entry::run_kernel(Call& call) {
  if (python_kernel_) {
    Result<int> status = python_kernel_->run(call.binding, plan_, call.outputs);
    if (status.ok()) return *status;
    problem_ = status.failure();
    return accel_error;
  }
  if (!plan_.allocate(call.binding.symbols, call.outputs)) {
    problem_ = fail(Reason::out_of_memory, take_exception_text());
    return accel_no_memory;
  }
  return plan_.count() == 0 ? 0 : run_native(call);
}

int Entry::run_native(Call& call) {
  AccelLaunch launch{&host_runtime(), imports_.data(), call.binding.symbols, call.binding.inputs, call.outputs.data};
  AccelKernel kernel = compilation_->kernel->entry();
  KernelScope scope;
  if (work_.evaluate(call.binding.symbols) < unlocked_work) return kernel(&launch);
  // Arguments are alive as long as the call; arrays found elsewhere could be dropped by another thread.
  take_references(call, true);
  PyThreadState* thread = PyEval_SaveThread();
  int status = kernel(&launch);
  PyEval_RestoreThread(thread);
  take_references(call, false);
  return status;
}

void Entry::take_references(Call& call, bool take) const {
  for (SourceId source : array_sources_) {
    PyObject* array = call.binding.sources[source];
    take ? Py_INCREF(array) : Py_DECREF(array);
  }
}

Outcome Entry::finish(Call& call, PyObject** result) {
  bool made = materialiser_.make(call.binding, call.outputs, call.objects);
  plan_.release(call.outputs);
  if (!made) {
    problem_ = fail(Reason::internal_error, take_exception_text());
    return Outcome::gave_up;
  }
  const Exit& exit = captured_.exits[0];
  if (exit.kind == ExitKind::ret) {
    *result = std::exchange(call.objects[exit.result], nullptr);
    materialiser_.release(call.objects);
    return Outcome::returned;
  }
  // The frames alone own the objects while the interpreter runs: objects die when NumPy's would.
  *result = resume_at(exit, call.objects, materialiser_.object_count());
  return Outcome::resumed;
}

void Entry::leave_to_interpreter(Reason reason, std::string detail) {
  ready_ = false;
  left_reason_ = reason;
  left_detail_ = std::move(detail);
}

Status Entry::compile_native(bool keep_texts) {
  CompileOptions options;
  options.keep_texts = keep_texts;
  Graph graph = captured_.graph;
  PyThreadState* thread = PyEval_SaveThread();
  Result<Compilation> compiled = compile(std::move(graph), options);
  PyEval_RestoreThread(thread);
  if (!compiled.ok()) return compiled.failure();
  for (const LoopImport& import : compiled->kernel->imports()) {
    ACCEL_TRY(ResolvedLoop loop, resolve_loop(import));
    imports_.push_back(loop.import);
    loops_.push_back(std::move(loop));
  }
  compilation_ = std::make_unique<Compilation>(std::move(compiled).value());
  ready_ = true;
  return Unit{};
}

Status Entry::compile_with(PyObject* backend, PyObject* function, PyObject* const* locals) {
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Binding binding;
  binding.symbols = space.take<int64_t>(guards.symbol_count);
  binding.inputs = space.take<void*>(guards.input_count);
  binding.sources = space.take<PyObject*>(guards.sources.size());
  if (!guards.check(function, locals, binding)) return fail(Reason::internal_error, "the arguments changed meanwhile");
  ACCEL_TRY(python_kernel_, PythonKernel::make(backend, captured_.graph, guards, binding));
  ready_ = true;
  return Unit{};
}

Fallback Entry::fallback() const {
  const Exit& exit = partial_exit_ != nullptr ? *partial_exit_ : captured_.exits[0];
  bool has_place = exit.where.source >= 0 && exit.where.source < static_cast<int>(captured_.graph.sources.size());
  std::string file = has_place ? captured_.graph.sources[exit.where.source] : std::string();
  if (partial_exit_ == nullptr) return {left_reason_, left_detail_, file, exit.where.line};
  return {exit.reason, exit.detail, file, exit.where.line};
}

bool Entry::fits_every_call() const {
  const GuardSet& guards = captured_.guards;
  return std::none_of(guards.guards.begin(), guards.guards.end(), [&](const Guard& guard) {
    if (guard.source < 0) return true;
    SourceId source = guard.source;
    while (guards.sources[source].parent >= 0) source = guards.sources[source].parent;
    return guards.sources[source].kind != SourceKind::global;
  });
}

int Entry::traverse(visitproc visit, void* arg) const {
  if (int stop = captured_.guards.traverse(visit, arg)) return stop;
  for (const Recipe& recipe : captured_.recipes) Py_VISIT(recipe.object.get());
  for (const ResolvedLoop& loop : loops_) Py_VISIT(loop.keep_alive.get());
  return python_kernel_ ? python_kernel_->traverse(visit, arg) : 0;
}

}  // namespace accel
