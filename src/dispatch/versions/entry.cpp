#include "dispatch/versions/entry.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include "capture/product/rng_functions.h"
#include "codegen/kernel_abi.h"
#include "dispatch/events/errstate.h"
#include "dispatch/exits/python_objects.h"
#include "dispatch/exits/resume.h"
#include "dispatch/launch/draw_functions.h"
#include "dispatch/launch/launch.h"
#include "dispatch/launch/workspace.h"
#include "dispatch/signals/interrupt.h"
#include "dispatch/versions/stance.h"
#include "ir/analysis/flow.h"

namespace accel {
namespace {

constexpr size_t words_of_draw = sizeof(AccelDraw) / sizeof(void*);

// From this many element operations on, other threads may run meanwhile. Giving the GIL back and forth costs about 0.1 us.
constexpr int64_t unlocked_work = 50000;

constexpr int floating_point_events = accel_divide | accel_overflow | accel_underflow | accel_invalid;

// After so many calls without an event the kernel that records them is left: it costs up to twice the plain kernel, and a call
// whose event is not recorded is made again.
constexpr int most_calls_without_events = 8;

// Why a kernel that returned `status` gave up.
Reason reason_of(int status) {
  if ((status & accel_error) != 0) return Reason::will_raise;
  return (status & accel_no_memory) != 0 ? Reason::out_of_memory : Reason::internal_error;
}

// Whether all results of every run are known before it.
bool has_known_results(const Graph& graph) { return graph.blocks.size() == 1 && bound_symbols(graph).empty(); }

void add_sources(const CallPart& part, std::set<SourceId>& out) {
  if (part.source >= 0) out.insert(part.source);
  for (const CallPart& item : part.items) add_sources(item, out);
}

// Whether passes left the exits as dispatch knows them.
bool same_outputs(const Graph& a, const Graph& b) {
  std::vector<ExitOutputs> exits_a = exits_of(a), exits_b = exits_of(b);
  return std::equal(exits_a.begin(), exits_a.end(), exits_b.begin(), exits_b.end(),
                    [](const ExitOutputs& x, const ExitOutputs& y) { return x.types.size() == y.types.size(); });
}

// Where the array is found that the graph's input is, -1: the input is none.
SourceId source_of_array(const GuardSet& guards, const Graph& graph, int input) {
  if (graph.inputs[input].slot >= 0) return -1;
  auto is_array = [](const auto& other) { return other.slot < 0; };
  auto number = std::count_if(graph.inputs.begin(), graph.inputs.begin() + input, is_array);
  for (const Guard& guard : guards.guards) {
    if (guard.kind == GuardKind::array && guard.array_input == number) return guard.source;
  }
  return -1;
}

// Whether others cannot tell the object from one that is made anew, nor change it.
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

// Adds the loops of NumPy's that a kernel calls.
Status resolve_loops(const CompiledKernel& kernel, std::vector<AccelImport>& imports, std::vector<ResolvedLoop>& loops) {
  for (const LoopImport& import : kernel.imports()) {
    ACCEL_TRY(ResolvedLoop loop, resolve_loop(import));
    imports.push_back(loop.import);
    loops.push_back(std::move(loop));
  }
  return Unit{};
}

// Releases the GIL meanwhile. Reason::interrupted: an exception is set.
Result<Compilation> compile_graph(Graph graph, const CompileOptions& options) {
  PyThreadState* thread = nullptr;
  const Interruptible compiling;
  KernelScope scope(&thread, compiling);
  thread = PyEval_SaveThread();
  Result<Compilation> compiled = compile(std::move(graph), options);
  PyEval_RestoreThread(std::exchange(thread, nullptr));
  if (scope.take()) return fail(Reason::interrupted, {});
  return compiled;
}

}  // namespace

// What has come of asking whether a run is interrupted.
struct Entry::Asked {
  std::optional<SavedException> interrupt;  // has interrupted the kernel, and is to be raised
  bool is_held = false;                     // what the kernel uses
  std::vector<Replaced> shown;              // what others have seen of what the run has set
};

// What one call of the entry works with.
struct Entry::Call {
  PyObject* function;
  PyObject* const* locals;
  Binding binding;
  Outputs outputs;
  PyObject** objects;
  int64_t work = 0;
  bool records = false;      // which operation had which event, for warnings when compiled code has run to its end
  int heard = 0;             // events that end a run which does not record them
  uint8_t event_tables[64];  // AccelLaunch::events, heard, forbidden, where there is room
  std::vector<uint8_t> more_tables;
  std::vector<SiteEvents> log;
  int exit = 0;
  Mode mode = Mode::ordinary;
  Entry* entry = nullptr;
  std::unique_ptr<Asked> asked;     // null: it was not
  std::optional<BoxedCalls> calls;  // when the graph makes any

  Asked& was_asked() {
    if (!asked) asked = std::make_unique<Asked>();
    return *asked;
  }
  bool is_interrupted() const { return asked && asked->interrupt; }
};

static int64_t next_serial() {
  static int64_t made = 0;
  return made++;
}

Entry::Entry(Captured captured) : serial_(next_serial()), captured_(std::move(captured)) {
  GuardSet& guards = captured_.guards;
  plan_ = OutputPlan(captured_.graph, captured_.recipes);
  work_ = WorkEstimate(captured_.graph);
  writes_inputs_ = !written_inputs(captured_.graph).empty();
  event_plan_ = EventPlan(captured_);
  times_taken_.resize(captured_.exits.size());
  draws_.resize(captured_.calls.size());
  std::set<SourceId> wanted;
  for (const Guard& guard : guards.guards) {
    if (guard.kind == GuardKind::array && guard.array_input >= 0) wanted.insert(guard.source);
  }
  for (int exit = static_cast<int>(captured_.exits.size()); exit-- > 0;) {
    if (captured_.exits[exit].kind == ExitKind::resume && !is_exceptional(exit)) partial_exit_ = exit;
    has_interrupts_ |= is_interrupt(captured_.exits[exit]);
  }
  for (const Exit& exit : captured_.exits) {
    materialisers_.emplace_back(captured_.recipes, exit, captured_.graph.dims, plan_);
    for (SourceId source : materialisers_.back().sources()) wanted.insert(source);
  }
  if (!captured_.calls.empty()) input_arrays_.assign(static_cast<size_t>(guards.input_count), -1);
  for (const Guard& guard : guards.guards) {
    const bool is_input = guard.kind == GuardKind::array && guard.array_input >= 0;
    if (is_input && !captured_.calls.empty()) input_arrays_[static_cast<size_t>(guard.array_input)] = guard.source;
  }
  for (const BoxedCall& call : captured_.calls) {
    for (const CallPart& part : call.arguments) add_sources(part, wanted);
    calls_python_ |= call.python != nullptr;
  }
  python_plans_ = python_call_plans(captured_);
  for (const auto& plan : python_plans_) {
    if (!plan) continue;
    for (SourceId source : plan->materialiser.sources()) wanted.insert(source);
  }
  for (size_t exit = 0; exit < captured_.exits.size(); ++exit) {
    if (!is_interrupt(captured_.exits[exit]) || calls_python_) continue;
    Exit shown;
    shown.kind = ExitKind::resume;
    shown.symbols = captured_.exits[exit].symbols;
    for (const StoreRecipe& store : captured_.exits[exit].stores)
      if (is_immutable(captured_.recipes[static_cast<size_t>(store.value)])) shown.stores.push_back(store);
    if (shown.stores.empty()) continue;
    Materialiser materialiser(captured_.recipes, shown, captured_.graph.dims, plan_);
    shown_.emplace(static_cast<int>(exit), Shown{std::move(shown), std::move(materialiser)});
  }
  held_sources_.assign(wanted.begin(), wanted.end());
  guards.wanted = held_sources_;
  if (guards.wanted.empty() && !guards.sources.empty()) guards.wanted.push_back(0);
  guards.seal();
}

// Symbols that compiled code binds have a slot behind those of the guards.
size_t Entry::symbol_count() const {
  return std::max(static_cast<size_t>(captured_.guards.symbol_count), captured_.graph.symbols.size());
}

size_t Entry::words() const {
  const GuardSet& guards = captured_.guards;
  return symbol_count() + guards.input_count + guards.sources.size() + 4 * plan_.count() + captured_.recipes.size() +
         words_of_draw * draws_.size();
}

Binding Entry::binding_in(Workspace& space) const {
  const GuardSet& guards = captured_.guards;
  Binding binding;
  binding.symbols = space.take<int64_t>(symbol_count());
  binding.inputs = space.take<void*>(guards.input_count);
  binding.sources = space.take<PyObject*>(guards.sources.size());
  return binding;
}

std::span<AccelDraw> Entry::draws_in(Workspace& space) const {
  auto* draws = reinterpret_cast<AccelDraw*>(space.take<void*>(words_of_draw * draws_.size()));
  std::uninitialized_copy(draws_.begin(), draws_.end(), draws);
  return {draws, draws_.size()};
}

// Without the functions the methods are called.
void Entry::find_draw_functions() {
  const std::vector<void*>& functions = draw_functions();
  if (functions.empty()) return;
  for (size_t k = 0; k < draws_.size(); ++k) {
    int row = captured_.calls[k].draw;
    if (row < 0) continue;
    const DrawInfo& info = draw_infos()[row];
    draws_[k] = {functions[row], nullptr, is_quiet(info), is_normal(info) ? functions.back() : nullptr};
    opens_draws_ = true;
  }
}

bool Entry::fits(PyObject* function, PyObject* const* locals) const {
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Binding binding = binding_in(space);
  return guards.check(function, locals, binding);
}

Outcome Entry::run(PyObject* function, PyObject* const* locals, Mode mode, PyObject** result) {
  if ((nan_ == Nan::met && !compile_quiet()) || (events_state_ == Events::heard && !compile_recording())) {
    *result = interpret_interrupted(function, locals);
    return Outcome::interrupted;
  }
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Call call;
  call.entry = this;
  call.function = function;
  call.locals = locals;
  call.mode = mode;
  call.binding = binding_in(space);
  if (!guards.check(function, locals, call.binding)) return Outcome::no_match;
  if (!ready_ || patience_.skips()) return Outcome::interpret;
  call.outputs.arrays = space.take<PyObject*>(plan_.count());
  call.outputs.data = space.take<void*>(plan_.count());
  call.outputs.numbers = space.take<int64_t>(2 * plan_.count());
  call.objects = space.take<PyObject*>(captured_.recipes.size());
  plan_.prepare(call.outputs);
  if (!captured_.calls.empty()) call.calls.emplace(checked_run(call), input_arrays_, draws_in(space));
  return calls_python_ ? launch_timed(call, result) : launch(call, result);
}

Outcome Entry::launch_timed(Call& call, PyObject** result) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome = launch(call, result);
  bool as_usual = (outcome == Outcome::returned || outcome == Outcome::resumed) && !left_behind_call_;
  if (as_usual)
    trial_.note_compiled(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                         call.calls->python()->count());
  return outcome;
}

CheckedRun Entry::checked_run(const Call& call) const {
  return {&captured_, &python_plans_, call.function, call.locals, call.binding};
}

// All was done before an interrupted run could leave: then the call ends with the exception.
Outcome Entry::raise_late(Call& call, Outcome outcome, PyObject** result) {
  if (!call.is_interrupted()) return outcome;
  Py_CLEAR(*result);
  call.asked->interrupt.reset();
  return Outcome::raised;
}

Outcome Entry::launch(Call& call, PyObject** result) {
  forget_problem();
  left_behind_call_.reset();
  patience_.start();
  call.records = records(call);
  int status = run_kernel(call);
  if ((status & accel_left) != 0) return raise_late(call, left_in_call(call, result), result);
  if (status != 0 || (call.records && !(always_records_ && call.log.empty()))) {
    Outcome outcome = judge(call, status);
    if (outcome != Outcome::returned) {
      if (call.calls) call.calls->undo();
      if (call.asked) put_back(call.asked->shown);
      if (call.calls && call.calls->python() && call.calls->python()->has_begun()) return go_back(call, outcome, result);
      if (outcome != Outcome::raised) PyErr_Clear();
      plan_.release(call.outputs);
      if (!call.is_interrupted()) return outcome;
      call.asked->interrupt.reset();
      *result = interpret_interrupted(call.function, call.locals);
      return Outcome::interrupted;
    }
  }
  if (call.calls) call.calls->release_locks();
  runs_++;
  Outcome outcome = finish(call, result);
  if (call.mode == Mode::rehearsal && call.calls) call.calls->undo();
  return call.asked ? raise_late(call, outcome, result) : outcome;
}

// The frames have run to their end behind a call.
Outcome Entry::left_in_call(Call& call, PyObject** result) {
  PythonCalls& python = *call.calls->python();
  plan_.release(call.outputs);
  *result = python.take_answer();
  const PythonCall& site = *captured_.calls[static_cast<size_t>(python.last())].python;
  left_behind_call_ = Fallback{python.reason(), python.detail(), file_of(site.where), site.where.line};
  if (python.unknown_result()) seen_result_.emplace(site.place, *python.unknown_result());
  seen_result_ ? patience_.succeeded() : patience_.left();
  return Outcome::resumed;
}

// A failure behind a call: the interpreter goes on there.
Outcome Entry::go_back(Call& call, Outcome why, PyObject** result) {
  PythonCalls& python = *call.calls->python();
  plan_.release(call.outputs);
  if (why != Outcome::raised) PyErr_Clear();
  if (call.asked) call.asked->interrupt.reset();
  const PythonCall& site = *captured_.calls[static_cast<size_t>(python.last())].python;
  Reason reason = why == Outcome::events ? Reason::floating_point_event : problem_.reason;
  *result = python.go_back(why == Outcome::raised);
  left_behind_call_ = Fallback{reason, "behind the call", file_of(site.where), site.where.line};
  return Outcome::resumed;
}

// Outcome::returned when the results stand.
Outcome Entry::judge(Call& call, int status) {
  const bool has_failed = (status & ~floating_point_events) != 0;  // otherwise it has left through an exit, or ended
  if ((call.is_interrupted() && has_failed) || ((status & accel_interrupted) != 0 && PyErr_Occurred())) return Outcome::raised;
  if ((status & accel_unclear) != 0) return judge_events(call, status & floating_point_events);
  if (has_failed) {
    if (problem_.detail.empty()) problem_ = fail(reason_of(status), {});
    if (!captured_.calls.empty()) patience_.spoilt();
    return Outcome::gave_up;
  }
  if (call.records) return warn(call);
  int events = status & floating_point_events;
  if (events != 0) events &= asks_after_run() ? event_plan_.masks().any_heard : call.heard;
  return events == 0 ? Outcome::returned : judge_events(call, events);
}

// After an event of which nothing can be said. The results of a kernel without control flow stand all the same.
Outcome Entry::judge_events(Call& call, int events) {
  last_events_ = event_plan_.describe(events, call.log);
  if (!call.records && event_plan_.are_shown(events)) {
    asks_what_is_shown_ = true;
    if (!has_flow_) return Outcome::returned;
    return Outcome::events;
  }
  events_++;
  patience_.spoilt();
  if (!call.records && may_be_quieter(events))
    nan_ = Nan::met;
  else if (events_state_ == Events::not_heard && compilation_)
    events_state_ = Events::heard;
  else if (recording_)
    calls_to_record_ = call.records ? 0 : most_calls_without_events;
  return Outcome::events;
}

// Whether the kernel that records events runs for this call.
bool Entry::records(Call& call) {
  if (always_records_ || !recording_ || calls_to_record_ == 0) return always_records_;
  const EventMasks& masks = event_plan_.masks();
  return (masks.any_heard & ~masks.any_forbidden) != 0;
}

// Gives the warnings of a run that has recorded its events. Warnings may run other threads: what the results are made of is
// held meanwhile.
Outcome Entry::warn(Call& call) {
  if (asks_of_log(call) && event_plan_.forbids(call.log)) return judge_events(call, 0);
  bool heard = !call.log.empty() && event_plan_.hears(call.log);
  calls_to_record_ = heard ? most_calls_without_events : std::max(calls_to_record_ - 1, 0);
  if (!heard) return Outcome::returned;
  asks_what_is_shown_ = true;
  const WarningState state = warning_state();
  bool in_time = state.hearing != Hearing::now && prints_unseen(state, writes_inputs_);
  if (!in_time && !writes_inputs_) return last_events_ = "an event that others see at once", Outcome::events;
  if (call.calls) call.calls->release_locks();
  take_references(call, true);
  bool warned = event_plan_.report(call.log);
  take_references(call, false);
  return warned ? Outcome::returned : Outcome::raised;
}

// Whether the event may only have been a NaN that was compared.
bool Entry::may_be_quieter(int events) const {
  if (events != event_invalid || nan_ != Nan::not_met || !compilation_) return false;
  const Graph& graph = compilation_->graph;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    bool of_floats = !node.operands.empty() && dtype_kind(graph.type(node.operands[0]).dtype) == 'f';
    return of_floats && (signals_on_nan(node.op) || (node.op == Op::reduce && signals_on_nan(node.attrs.ufunc)));
  });
}

// Without it calls with NaN go on as before: they are run again by the interpreter. False with an exception: interrupted.
bool Entry::compile_quiet() {
  Result<Compilation> quiet = compile_graph(captured_.graph, {.quiet_comparisons = true});
  if (!quiet.ok() && quiet.failure().reason == Reason::interrupted) return false;
  nan_ = Nan::heeded;
  if (!quiet.ok()) return true;
  quiet_kernel_ = quiet->kernel;
  patience_.succeeded();
  return true;
}

// Without it calls with events go on as before. Python calls show what has been warned of before them.
// False with an exception: interrupted.
bool Entry::compile_recording() {
  if (calls_python_) {
    events_state_ = Events::compiled;
    return true;
  }
  Result<Compilation> made = compile_graph(captured_.graph, {.record_events = true});
  if (!made.ok() && made.failure().reason == Reason::interrupted) return false;
  events_state_ = Events::compiled;
  if (!made.ok() || !same_outputs(captured_.graph, made->graph) || !add_recording(*made).ok()) return true;
  calls_to_record_ = most_calls_without_events;
  patience_.succeeded();
  return true;
}

Status Entry::add_recording(const Compilation& compilation) {
  auto recording = std::make_unique<Recording>();
  ACCEL_TRY([[maybe_unused]] Unit resolved, resolve_loops(*compilation.kernel, recording->imports, recording->loops));
  recording->kernel = compilation.kernel;
  // A call's result may become a result itself; memory for it is then made in vain.
  recording->allocates_first = has_known_results(compilation.graph) && (captured_.calls.empty() || writes_inputs_);
  recording_ = std::move(recording);
  return Unit{};
}

int Entry::run_kernel(Call& call) {
  if (python_kernel_) {
    call.heard = event_plan_.masks().any_heard;
    Result<int> status = python_kernel_->run(call.binding, plan_, call.outputs, call.exit, call.calls ? &*call.calls : nullptr);
    if (call.calls && call.calls->problem()) problem_ = *call.calls->problem();
    if (status.ok()) return *status;
    problem_ = status.failure();
    return accel_error;
  }
  if (!compilation_) return 0;
  if ((call.records ? recording_->allocates_first : allocates_first_) &&
      !plan_.allocate_all(call.binding.symbols, call.outputs)) {
    problem_ = fail(Reason::out_of_memory, take_exception_text());
    return accel_no_memory;
  }
  return run_native(call);
}

int Entry::run_native(Call& call) {
  BoxedCalls* calls = call.calls ? &*call.calls : nullptr;
  ResultMemory memory(plan_, call.outputs, calls);
  call.work = work_.evaluate(call.binding.symbols);
  AccelLaunch launch{&launch_runtime(),
                     call.records ? recording_->imports.data() : imports_.data(),
                     call.binding.symbols,
                     call.binding.inputs,
                     call.outputs.data,
                     &memory,
                     &call.exit};
  set_events(call, launch);
  if (calls != nullptr) launch.draws = calls->draws().data();
  const bool unlocked = call.work >= unlocked_work;
  if (int64_t each = work_.per_given_element(); calls != nullptr && each > 0)
    memory.unlock_from((unlocked_work - 1) / each + 1);
  // Arguments are alive as long as the call; objects found elsewhere could be dropped by another thread. Python code that is
  // called counts references.
  const bool others_run = unlocked || opens_draws_ || (calls != nullptr && !calls_python_);
  if (others_run) take_references(call, true);
  const CompiledKernel& kernel = call.records ? *recording_->kernel : quiet_kernel_ ? *quiet_kernel_ : *compilation_->kernel;
  const Interruptible run{has_interrupts_, others_run ? nullptr : hold, still_holds, shown_.empty() ? nullptr : show, &call};
  int status = memory.run(kernel.entry(), launch, unlocked, run);
  auto was_in_call = [&] {
    return (status & accel_interrupted) != 0 && calls != nullptr && !calls->cannot_go_on() && PyErr_Occurred() != nullptr &&
           PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  };
  if (memory.was_interrupted() || was_in_call()) call.was_asked().interrupt.emplace();
  if (others_run || (call.asked && call.asked->is_held)) take_references(call, false);
  call.log = std::move(memory.log());
  if (calls_python_) forget_problem();  // of calls within this one
  if (!memory.problem().empty()) problem_ = fail(Reason::out_of_memory, memory.problem());
  if (calls != nullptr && calls->problem()) problem_ = *calls->problem();
  return status;
}

void Entry::hold(void* context) {
  Call& call = *static_cast<Call*>(context);
  call.entry->take_references(call, true);
  call.was_asked().is_held = true;
}

// Whether the guards hold as they did before the run. Behind a call that may do anything that has been asked for.
bool Entry::still_holds(void* context) {
  Call& call = *static_cast<Call*>(context);
  const bool asked = call.calls && call.calls->python() && call.calls->python()->has_begun();
  return asked || holds_as_checked(call.entry->checked_run(call), call.asked ? &call.asked->shown : nullptr);
}

// What the run has set by now, as far as that cannot change, is there for others to see.
void Entry::show(void* context, int number) {
  Call& call = *static_cast<Call*>(context);
  auto found = call.entry->shown_.find(number);
  if (found == call.entry->shown_.end()) return;
  const auto& [exit, materialiser] = found->second;
  for (const BoundSymbol& bound : exit.symbols)
    call.binding.symbols[bound.symbol] = *static_cast<const int64_t*>(call.outputs.data[bound.output]);
  SavedException of_others;
  if (materialiser.make(call.binding, call.outputs, call.objects)) {
    note_replaced(exit.stores, call.objects, call.was_asked().shown);
    (void)perform(exit.stores, call.objects);
    materialiser.release(call.objects);
  }
  PyErr_Clear();
}

// A native kernel without control flow does not stop at events: which of them are heard is asked when there are any.
bool Entry::asks_after_run() const { return compilation_ && !has_flow_; }

// Small runs that leave nothing for others to see are asked what they had, and only then who hears of that.
bool Entry::asks_of_log(const Call& call) const { return always_records_ && !writes_inputs_ && call.work < unlocked_work; }

void Entry::set_open_events(Call& call, AccelLaunch& launch) {
  const std::vector<uint8_t>& open = event_plan_.open_tables();
  const size_t sites = (open.size() - 1) / 3;
  uint8_t* tables = copy_tables(call, open);
  launch.accepted = floating_point_events;
  launch.events = tables, launch.heard = tables + sites + 1, launch.forbidden = launch.heard + sites;
  launch.site_count = static_cast<int>(sites);
}

uint8_t* Entry::copy_tables(Call& call, const std::vector<uint8_t>& tables) {
  uint8_t* copy = call.event_tables;
  if (tables.size() > sizeof call.event_tables) {
    call.more_tables.resize(tables.size());
    copy = call.more_tables.data();
  }
  std::copy(tables.begin(), tables.end(), copy);
  return copy;
}

// Events that need not stop the kernel: nothing is said of them, or it can be said afterwards.
void Entry::set_events(Call& call, AccelLaunch& launch) {
  if (!call.records && asks_after_run()) return;
  if (!call.records && !event_plan_.has_events()) {
    launch.accepted = launch.ignored = floating_point_events;
    return;
  }
  if (asks_of_log(call)) return set_open_events(call, launch);
  const EventMasks& masks = event_plan_.masks();
  if (!call.records) {
    call.heard = masks.any_heard;
    if (asks_what_is_shown_ && has_flow_) call.heard &= ~event_plan_.shown_events();
    launch.accepted = launch.ignored = floating_point_events & ~call.heard;
    return;
  }
  const size_t sites = masks.heard.size();
  uint8_t* tables = copy_tables(call, masks.tables);
  uint8_t *heard = tables + sites + 1, *forbidden = heard + sites;
  if (asks_what_is_shown_) event_plan_.drop_shown(heard);
  const bool has_late = (masks.any_heard & ~masks.any_forbidden) != 0;  // else the two tables of events are equal
  const bool unseen = !writes_inputs_ || !has_late || prints_unseen(masks.state, true);
  if (!unseen) std::copy(masks.heard.begin(), masks.heard.end(), forbidden);
  launch.accepted = floating_point_events & ~(unseen ? masks.any_forbidden : masks.any_heard);
  launch.ignored = launch.accepted & ~masks.any_heard;
  launch.events = tables, launch.heard = heard, launch.forbidden = forbidden;
  launch.site_count = static_cast<int>(sites);
  launch.once = masks.state.once;
}

void Entry::take_references(Call& call, bool take) const {
  for (SourceId source : held_sources_) {
    PyObject* object = call.binding.sources[source];
    take ? Py_XINCREF(object) : Py_XDECREF(object);
  }
}

Outcome Entry::finish(Call& call, PyObject** result) {
  const Exit& exit = captured_.exits[call.exit];
  const Materialiser& materialiser = materialisers_[call.exit];
  for (const BoundSymbol& bound : exit.symbols) {
    call.binding.symbols[bound.symbol] = *static_cast<const int64_t*>(call.outputs.data[bound.output]);
  }
  const PythonCalls* python = call.calls ? call.calls->python() : nullptr;
  bool made = materialiser.make(call.binding, call.outputs, call.objects, python != nullptr ? &python->shown() : nullptr);
  plan_.release(call.outputs);
  if (!made && call.calls) call.calls->undo();
  if (!made && writes_inputs_) return Outcome::raised;  // the call cannot be run again
  if (!made && call.calls && call.calls->python() && call.calls->python()->has_begun())
    return go_back(call, Outcome::gave_up, result);
  if (!made) {
    problem_ = fail(Reason::internal_error, take_exception_text());
    return Outcome::gave_up;
  }
  last_exit_ = call.exit;
  times_taken_[call.exit]++;
  if (exit.kind == ExitKind::resume) return leave(call, result);
  patience_.succeeded();
  bool stored = perform(exit.stores, call.objects);
  if (stored) *result = std::exchange(call.objects[exit.result], nullptr);
  materialiser.release(call.objects);
  return stored ? Outcome::returned : Outcome::raised;
}

Outcome Entry::leave(Call& call, PyObject** result) {
  const Exit& exit = captured_.exits[call.exit];
  const Materialiser& materialiser = materialisers_[call.exit];
  bool refused = call.mode == Mode::whole && !raises_or_warns(exit.reason);
  if (refused || call.mode == Mode::rehearsal) {
    materialiser.release(call.objects);
    return Outcome::refused;
  }
  exit.is_check && !is_interrupt(exit) ? patience_.left() : patience_.succeeded();
  // The frames alone own the objects while the interpreter runs: objects die when NumPy's would.
  std::vector<FrameState> frames = frames_of(exit.frames, call.objects);
  bool stored = perform(exit.stores, call.objects);
  materialiser.release(call.objects);
  if (call.calls) call.calls->release_objects();
  if (!stored) return Outcome::raised;
  bool raises = call.is_interrupted();
  if (raises) call.asked->interrupt.reset();
  *result = resume_frames(std::move(frames), raises);
  // Calls of this function within the frames have set both.
  last_exit_ = call.exit;
  left_behind_call_.reset();
  return Outcome::resumed;
}

bool Entry::does_nothing() const {
  const Graph& graph = captured_.graph;
  return graph.blocks.size() == 1 && graph.outputs().empty() && !writes_inputs_ && captured_.calls.empty() &&
         std::all_of(graph.entry().nodes.begin(), graph.entry().nodes.end(),
                     [&](NodeId n) { return node_events(graph, graph.nodes[static_cast<size_t>(n)]) == 0; });
}

bool Entry::is_exceptional(int number) const {
  const Exit& exit = captured_.exits[number];
  return exit.is_behind_call || (captured_.graph.blocks.size() > 1 && (exit.is_check || ends_exceptionally(exit.reason)));
}

void Entry::leave_to_interpreter(Reason reason, std::string detail) {
  ready_ = false;
  left_reason_ = reason;
  left_detail_ = std::move(detail);
}

Status Entry::compile_native(bool keep_texts) {
  always_records_ = records_at_no_cost(captured_.graph) && !calls_python_;
  Result<Compilation> compiled = compile_graph(captured_.graph, {.keep_texts = keep_texts, .record_events = always_records_});
  if (!compiled.ok()) return compiled.failure();
  if (!same_outputs(captured_.graph, compiled->graph)) return fail(Reason::internal_error, "a pass changed the exits");
  if (always_records_) {
    ACCEL_TRY([[maybe_unused]] Unit added, add_recording(*compiled));
    events_state_ = Events::compiled;
  }
  bool calls = !captured_.calls.empty() && !writes_inputs_;
  allocates_first_ = has_known_results(compiled->graph) && !calls;
  has_flow_ = has_flow(compiled->graph);
  ACCEL_TRY([[maybe_unused]] Unit resolved, resolve_loops(*compiled->kernel, imports_, loops_));
  auto draws = [](const BoxedCall& call) { return call.draw >= 0; };
  if (std::any_of(captured_.calls.begin(), captured_.calls.end(), draws)) find_draw_functions();
  compilation_ = std::make_unique<Compilation>(std::move(compiled).value());
  ready_ = true;
  return Unit{};
}

Status Entry::compile_with(PyObject* backend, PyObject* function, PyObject* const* locals) {
  const GuardSet& guards = captured_.guards;
  Workspace space(words());
  Binding binding = binding_in(space);
  if (!guards.check(function, locals, binding)) return fail(Reason::internal_error, "the arguments changed meanwhile");
  ACCEL_TRY(python_kernel_, PythonKernel::make(backend, captured_, binding));
  ready_ = true;
  return Unit{};
}

Fallback Entry::fallback() const {
  if (partial_exit_ >= 0) return fallback_at(partial_exit_);
  Location where = captured_.exits[0].where;
  return {left_reason_, left_detail_, file_of(where), where.line};
}

Fallback Entry::fallback_at(int number) const {
  const Exit& exit = captured_.exits[number];
  return {exit.reason, exit.detail, file_of(exit.where), exit.where.line};
}

std::string Entry::file_of(Location where) const {
  const std::vector<std::string>& files = captured_.graph.sources;
  return where.source >= 0 && where.source < static_cast<int>(files.size()) ? files[where.source] : std::string();
}

std::optional<Reason> Entry::met_other_way() const {
  Reason reason = captured_.exits[static_cast<size_t>(last_exit_)].reason;
  return is_learned(reason) && !captured_.learned.contains(reason) ? std::optional(reason) : std::nullopt;
}

bool Entry::is_of_argument(SourceId source) const {
  const std::vector<Source>& sources = captured_.guards.sources;
  while (source >= 0 && sources[source].parent >= 0) source = sources[source].parent;
  return source >= 0 && sources[source].kind == SourceKind::local;
}

bool Entry::changes_only_arguments() const {
  if (calls_python_) return false;
  for (int input : written_inputs(captured_.graph)) {
    if (!is_of_argument(source_of_array(captured_.guards, captured_.graph, input))) return false;
  }
  for (const Exit& exit : captured_.exits) {
    for (const StoreRecipe& store : exit.stores) {
      const Recipe& object = captured_.recipes[store.object];
      bool is_shared = object.kind == RecipeKind::source ? !is_of_argument(object.index) : object.kind == RecipeKind::constant;
      if (is_shared) return false;
    }
  }
  return true;
}

bool Entry::fits_every_call() const {
  const GuardSet& guards = captured_.guards;
  return std::none_of(guards.guards.begin(), guards.guards.end(), [&](const Guard& guard) {
    // Names stay bound, to functions, classes and modules for good; other constants may change.
    PyObject* object = guard.kind == GuardKind::identity ? guard.object.get() : nullptr;
    bool stays = object != nullptr ? PyCallable_Check(object) != 0 || PyModule_Check(object)
                                   : guard.kind == GuardKind::bound || guard.kind == GuardKind::unbound;
    if (guard.source < 0 || !stays) return true;
    SourceId source = guard.source;
    while (guards.sources[source].parent >= 0) source = guards.sources[source].parent;
    SourceKind root = guards.sources[source].kind;
    return root != SourceKind::global && root != SourceKind::pinned;
  });
}

int Entry::traverse(visitproc visit, void* arg) const {
  if (int stop = captured_.guards.traverse(visit, arg)) return stop;
  for (const Recipe& recipe : captured_.recipes) Py_VISIT(recipe.object.get());
  for (const BoxedCall& call : captured_.calls) {
    Py_VISIT(call.callable.get());
    for (const CallPart& part : call.arguments) Py_VISIT(part.object.get());
    if (!call.python) continue;
    for (const Recipe& recipe : call.python->recipes) Py_VISIT(recipe.object.get());
  }
  for (const ResolvedLoop& loop : loops_) Py_VISIT(loop.keep_alive.get());
  if (recording_)
    for (const ResolvedLoop& loop : recording_->loops) Py_VISIT(loop.keep_alive.get());
  if (int stop = event_plan_.traverse(visit, arg)) return stop;
  for (const EventSite& site : captured_.event_sites) Py_VISIT(site.place.globals.get());
  return python_kernel_ ? python_kernel_->traverse(visit, arg) : 0;
}

}  // namespace accel
