#include "dispatch/entries/run.h"

#include <chrono>
#include <utility>

#include "codegen/kernel_abi.h"
#include "device_array/failures.h"
#include "dispatch/exits/python_objects.h"
#include "dispatch/exits/resume.h"
#include "dispatch/launch/device_launch.h"
#include "dispatch/launch/launch.h"

namespace accel {
namespace {

// From this many element operations on, the run releases the GIL, which costs about 0.1 us.
constexpr int64_t unlocked_work = 50000;

DeviceCounters difference(const DeviceCounters& after, const DeviceCounters& before) {
  DeviceCounters out;
  for (auto member :
       {&DeviceCounters::launches, &DeviceCounters::waits, &DeviceCounters::uploads, &DeviceCounters::downloads,
        &DeviceCounters::bytes_up, &DeviceCounters::bytes_down, &DeviceCounters::graphs, &DeviceCounters::graph_launches})
    out.*member = after.*member - before.*member;
  return out;
}

// Why a kernel that returned `status` gave up.
Reason reason_of(int status) {
  if ((status & accel_error) != 0) return Reason::will_raise;
  return (status & accel_no_memory) != 0 ? Reason::out_of_memory : Reason::internal_error;
}

}  // namespace

CheckedRun Run::checked_run() const { return {&context_.captured, &context_.plan.python_calls, function_, locals_, binding_}; }

void Run::prepare_calls(Workspace& space) {
  std::span<const AccelDraw> from = context_.kernels.draws();
  auto* draws = reinterpret_cast<AccelDraw*>(space.take<void*>(from.size_bytes() / sizeof(void*)));
  std::uninitialized_copy(from.begin(), from.end(), draws);
  calls_.emplace(checked_run(), context_.plan.input_arrays, std::span<AccelDraw>(draws, from.size()));
}

// --- launch ----------------------------------------------------------------------------------------------------------------

Outcome Run::launch_timed(PyObject** result) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome = launch(result);
  bool as_usual = (outcome == Outcome::returned || outcome == Outcome::resumed) && !context_.history.left_behind_call();
  if (as_usual)
    context_.trial.note_compiled(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                                 python()->count());
  return outcome;
}

Outcome Run::launch(PyObject** result) {
  context_.history.begin();
  context_.patience.start();
  events_.records = context_.events.records();
  int status = run_kernel();
  if ((status & accel_left) != 0) return raise_late(left_in_call(result), result);
  if (status != 0 || (events_.records && !(context_.kernels.always_records() && events_.log.empty()))) {
    Outcome outcome = judge(status);
    if (outcome != Outcome::returned) return abandon(outcome, result);
  }
  if (calls_) calls_->release_locks();
  context_.history.count_run();
  Outcome outcome = finish(result);
  if (mode_ == RunMode::rehearsal && calls_) calls_->undo();
  return interruption_ ? raise_late(outcome, result) : outcome;
}

int Run::run_kernel() {
  if (context_.kernels.python() != nullptr) return run_python();
  if (context_.kernels.compilation() == nullptr) return 0;
  if (context_.kernels.device_plan().device != nullptr) return run_on_device();
  if (context_.kernels.host_copies().device >= 0) return run_on_host_copies();
  const NativeKernel& kernel = events_.records ? *context_.kernels.recording() : context_.kernels.plain();
  return allocate_and_run(kernel, binding_.inputs);
}

int Run::allocate_and_run(const NativeKernel& kernel, void** inputs) {
  if (kernel.allocates_first && !context_.plan.outputs.allocate_all(binding_.symbols, outputs_)) {
    context_.history.fail(fail(Reason::out_of_memory, take_exception_text()));
    return accel_no_memory;
  }
  return run_native(kernel, inputs);
}

// Runs the kernel on copies of the arguments that are on a device. An exception ends the call, which cannot be made again: some
// of its stores may be on the device. An interrupt of such a run raises KeyboardInterrupt in its place.
int Run::run_on_host_copies() {
  const HostCopyPlan& plan = context_.kernels.host_copies();
  Result<CudaDevice*> device = CudaDevice::open(plan.device);
  if (!device.ok()) return raise_device_failure(device.failure()), accel_interrupted;
  const DeviceCounters before = (*device)->counters();
  HostCopies copies(plan, **device, binding_);
  take_references(true);
  int status = copies.download() ? allocate_and_run(context_.kernels.plain(), copies.inputs()) & ~floating_point_events
                                 : accel_interrupted;
  if (status == 0 && !copies.upload(context_.plan.outputs, exit_, outputs_)) {
    status = accel_interrupted;
    interruption_.reset();
  }
  take_references(false);
  context_.history.note_device_work(difference((*device)->counters(), before));
  return status;
}

int Run::run_on_device() {
  const NativeKernel& kernel = context_.kernels.plain();
  const DevicePlan& plan = context_.kernels.device_plan();
  CudaDevice& device = *plan.device;
  const DeviceCounters before = device.counters();
  bool has_references = false;
  auto take = [&](bool wanted) {
    if (std::exchange(has_references, wanted) != wanted) take_references(wanted);
  };
  take(true);
  PyThreadState* unlocked = nullptr;
  Interruptible interruptible{context_.plan.has_interrupts, nullptr, still_holds, nullptr, this};
  interruptible.yield = submit_launches;
  KernelScope scope(&unlocked, interruptible);
  if (plan.writes_device_arrays) ignore_signals();
  std::optional<DeviceLaunch> launch;
  auto run = [&](bool defers_checks) {
    launch.emplace(plan, context_.plan.outputs, outputs_, binding_, defers_checks,
                   CallsOfRun{calls_ ? &*calls_ : nullptr, take});
    return launch->run(kernel.kernel->entry(), kernel.device_kernels.get(), kernel.imports, kernel.allocates_first, exit_);
  };
  int status = run(plan.defers_checks);
  if (launch->has_failed_check()) {
    launch.reset();
    context_.plan.outputs.release(outputs_);
    context_.plan.outputs.prepare(outputs_);
    exit_ = 0;
    status = run(false);
  }
  const bool was_interrupted = scope.take();
  if (was_interrupted || (status & accel_interrupted) != 0) note_interruption(was_interrupted);
  take(false);
  context_.history.note_device_work(difference(device.counters(), before));
  if (calls_ && calls_->problem()) context_.history.fail(*calls_->problem());
  if (launch->failure()) context_.history.fail(*launch->failure());
  const bool has_failed = launch->failure() && launch->failure()->reason != Reason::interrupted;
  cannot_run_again_ = has_failed && (plan.gives_device_arrays || launch->has_spoilt_arguments());
  if (cannot_run_again_ && interruption_) {  // the failure is raised, and the interrupt later
    interruption_.reset();
    drop_own_error();
  }
  return status;
}

int Run::run_python() {
  context_.events.hear_all(events_);
  BoxedCalls* calls = calls_ ? &*calls_ : nullptr;
  Result<int> status = context_.kernels.python()->run(binding_, context_.plan.outputs, outputs_, exit_, calls);
  if (calls != nullptr && calls->problem()) context_.history.fail(*calls->problem());
  if (status.ok()) return *status;
  context_.history.fail(status.failure());
  return accel_error;
}

int Run::run_native(const NativeKernel& kernel, void** inputs) {
  const RunPlan& plan = context_.plan;
  BoxedCalls* calls = calls_ ? &*calls_ : nullptr;
  ResultMemory memory(plan.outputs, outputs_, calls);
  const bool unlocked = plan.work.evaluate(binding_.symbols) >= unlocked_work;
  events_.is_small = !unlocked;
  AccelLaunch launch{&launch_runtime(), kernel.imports.data(), binding_.symbols, inputs, outputs_.data, &memory, &exit_};
  context_.events.prepare(events_, launch);
  if (context_.kernels.host_copies().device >= 0) launch.accepted = launch.ignored = floating_point_events;
  if (calls != nullptr) launch.draws = calls->draws().data();
  if (int64_t each = plan.work.per_given_element(); calls != nullptr && each > 0)
    memory.unlock_from((unlocked_work - 1) / each + 1);
  // Arguments live as long as the call; other objects could be dropped by another thread while the GIL is released. Unknown
  // code may count references, so a run that calls it takes them only when needed.
  const bool others_run = unlocked || context_.kernels.opens_draws() || (calls != nullptr && !plan.calls_python);
  if (others_run) take_references(true);
  const Interruptible interruptible{plan.has_interrupts, others_run ? nullptr : hold, still_holds,
                                    plan.published.empty() ? nullptr : publish, this};
  int status = memory.run(kernel.kernel->entry(), launch, unlocked, interruptible);
  if (memory.was_interrupted() || (status & accel_interrupted) != 0) [[unlikely]]
    note_interruption(memory.was_interrupted());
  if (others_run || (interruption_ && interruption_->is_held)) take_references(false);
  events_.log = std::move(memory.log());
  if (plan.calls_python) context_.history.forget_problem();  // recorded by nested calls of this function
  if (!memory.problem().empty()) context_.history.fail(fail(Reason::out_of_memory, memory.problem()));
  if (calls != nullptr && calls->problem()) context_.history.fail(*calls->problem());
  return status;
}

// Saves the exception that has interrupted the kernel or a call that it made.
void Run::note_interruption(bool was_interrupted) {
  auto was_in_call = [&] {
    return calls_ && !calls_->cannot_go_on() && PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  };
  if (was_interrupted || was_in_call()) interruption().exception.emplace();
}

void Run::take_references(bool take) const {
  for (SourceId source : context_.plan.held_sources) {
    PyObject* object = binding_.sources[source];
    take ? Py_XINCREF(object) : Py_XDECREF(object);
  }
}

void Run::hold(void* run) {
  Run& self = *static_cast<Run*>(run);
  self.take_references(true);
  self.interruption().is_held = true;
}

// A failure is that of the run's next call of the device.
void Run::submit_launches(void* run) { (void)static_cast<Run*>(run)->context_.kernels.device_plan().device->submit(); }

// Whether the guards still hold. Calls of unknown code check that themselves.
bool Run::still_holds(void* run) {
  Run& self = *static_cast<Run*>(run);
  return self.has_called_python() ||
         holds_as_checked(self.checked_run(), self.interruption_ ? &self.interruption_->published : nullptr);
}

// Makes the final stores of an exit, so that other threads see them while the run continues.
void Run::publish(void* run, int number) {
  Run& self = *static_cast<Run*>(run);
  auto found = self.context_.plan.published.find(number);
  if (found == self.context_.plan.published.end()) return;
  const auto& [exit, materialiser] = found->second;
  self.bind_symbols(exit);
  SavedException of_others;
  if (materialiser.make(self.binding_, self.outputs_, self.objects_)) {
    note_replaced(exit.stores, self.objects_, self.interruption().published);
    (void)perform(exit.stores, self.objects_);
    materialiser.release(self.objects_);
  }
  PyErr_Clear();
}

// --- the kernel's status ---------------------------------------------------------------------------------------------------

// How the run ends; Outcome::returned when its results are valid.
Outcome Run::judge(int status) {
  EventPolicy& events = context_.events;
  RunHistory& history = context_.history;
  const bool has_failed = (status & ~floating_point_events) != 0;  // otherwise it has taken an exit
  if ((is_interrupted() && has_failed) || ((status & accel_interrupted) != 0 && PyErr_Occurred())) return Outcome::raised;
  if ((status & accel_unclear) != 0)
    return events.stands_unclear(events_, status & floating_point_events) ? Outcome::returned : Outcome::events;
  if (has_failed) {
    if (history.problem().detail.empty()) history.fail(fail(reason_of(status), {}));
    if (context_.plan.makes_calls) context_.patience.spoilt();
    if (cannot_run_again_) {
      raise_device_failure(history.problem());
      return Outcome::raised;
    }
    return Outcome::gave_up;
  }
  if (events_.records) return warn();
  return events.stands(events_, status & floating_point_events) ? Outcome::returned : Outcome::events;
}

// Issues the warnings of a run that has recorded its events. Warnings may run other threads, so references to what results are
// made of are held.
Outcome Run::warn() {
  EventPolicy::Verdict verdict = context_.events.judge_log(events_);
  if (verdict == EventPolicy::Verdict::stands) return Outcome::returned;
  if (verdict == EventPolicy::Verdict::leaves) return Outcome::events;
  if (calls_) calls_->release_locks();
  take_references(true);
  bool warned = context_.events.report(events_);
  take_references(false);
  return warned ? Outcome::returned : Outcome::raised;
}

// Discards the results and undoes the effects of the run.
Outcome Run::abandon(Outcome why, PyObject** result) {
  if (calls_) calls_->undo();
  if (interruption_) put_back(interruption_->published);
  if (has_called_python()) return go_back(why, result);
  if (why != Outcome::raised) PyErr_Clear();
  context_.plan.outputs.release(outputs_);
  if (!is_interrupted()) return why;
  interruption_->exception.reset();
  *result = interpret_interrupted(function_, locals_);
  return Outcome::interrupted;
}

// Ends the call with the exception when an interrupted run has reached its end without an exit.
Outcome Run::raise_late(Outcome outcome, PyObject** result) {
  if (!is_interrupted()) return outcome;
  Py_CLEAR(*result);
  interruption_->exception.reset();
  return Outcome::raised;
}

// --- rollback to a call that the run made -----------------------------------------------------------------------------------

// Ends a run in which a call of unknown code broke an assumption or raised; the interpreter has run the frames to their end.
Outcome Run::left_in_call(PyObject** result) {
  RunHistory& history = context_.history;
  LeftCall& left = python()->left();
  context_.plan.outputs.release(outputs_);
  *result = left.take_answer();
  leave_behind_call(left.reason(), left.detail());
  if (left.unknown_result()) history.see_result(last_call_site().place, *left.unknown_result());
  history.seen_result() ? context_.patience.succeeded() : context_.patience.left();
  return Outcome::resumed;
}

// Ends a run that failed after a call of unknown code: the interpreter continues after that call.
Outcome Run::go_back(Outcome why, PyObject** result) {
  context_.plan.outputs.release(outputs_);
  if (why != Outcome::raised) PyErr_Clear();
  if (interruption_) interruption_->exception.reset();
  Reason reason = why == Outcome::events ? Reason::floating_point_event : context_.history.problem().reason;
  *result = python()->go_back(why == Outcome::raised);
  leave_behind_call(reason, "behind the call");
  return Outcome::resumed;
}

const PythonCall& Run::last_call_site() { return *context_.captured.calls[static_cast<size_t>(python()->last())].python; }

void Run::leave_behind_call(Reason reason, std::string detail) {
  context_.history.leave_behind_call(fallback_at(context_.captured, last_call_site().where, reason, std::move(detail)));
}

// --- exits -----------------------------------------------------------------------------------------------------------------

Outcome Run::finish(PyObject** result) {
  const Exit& exit = context_.captured.exits[exit_];
  const Materialiser& materialiser = context_.plan.materialisers[exit_];
  bind_symbols(exit);
  const PythonCalls* calls = python();
  bool made = materialiser.make(binding_, outputs_, objects_, calls != nullptr ? &calls->shown() : nullptr);
  context_.plan.outputs.release(outputs_);
  if (!made) return not_made(result);
  context_.history.take_exit(exit_);
  if (exit.kind == ExitKind::resume) return leave(result);
  context_.patience.succeeded();
  bool stored = perform(exit.stores, objects_);
  if (stored) *result = std::exchange(objects_[exit.result], nullptr);
  materialiser.release(objects_);
  return stored ? Outcome::returned : Outcome::raised;
}

// The objects of the exit could not be made.
Outcome Run::not_made(PyObject** result) {
  if (calls_) calls_->undo();
  if (context_.plan.writes_inputs) return Outcome::raised;  // the call cannot be run again
  if (has_called_python()) return go_back(Outcome::gave_up, result);
  context_.history.fail(fail(Reason::internal_error, take_exception_text()));
  return Outcome::gave_up;
}

Outcome Run::leave(PyObject** result) {
  const Exit& exit = context_.captured.exits[exit_];
  const Materialiser& materialiser = context_.plan.materialisers[exit_];
  bool refused = mode_ == RunMode::whole && !raises_or_warns(exit.reason);
  if (refused || mode_ == RunMode::rehearsal) {
    materialiser.release(objects_);
    return Outcome::refused;
  }
  exit.is_check && !is_interrupt(exit) ? context_.patience.left() : context_.patience.succeeded();
  // The frames must be the only owners of the objects while the interpreter runs, so that objects die as without accel.
  std::vector<FrameState> frames = frames_of(exit.frames, objects_);
  bool stored = perform(exit.stores, objects_);
  materialiser.release(objects_);
  if (calls_) calls_->release_objects();
  if (!stored) return Outcome::raised;
  bool raises = is_interrupted();
  if (raises) interruption_->exception.reset();
  *result = resume_frames(std::move(frames), raises);
  context_.history.end_at(exit_);
  return Outcome::resumed;
}

}  // namespace accel
