#include "dispatch/versions/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cpython/arguments.h"
#include "cpython/c_stack.h"
#include "device_array/failures.h"
#include "dispatch/events/errstate.h"
#include "dispatch/guests/guest_arguments.h"
#include "dispatch/reports/notices.h"
#include "dispatch/signals/interrupt.h"
#include "dispatch/versions/constant_history.h"
#include "dispatch/versions/stance.h"
#include "dispatch/versions/verification.h"
#include "dispatch/versions/version_log.h"

namespace accel {
namespace {

constexpr int small_locals = 48;

// Warns once per process that a tool prevents accel from running. False when a warning filter turned it into an exception.
bool warn_of_tools() {
  static bool warned = false;
  if (std::exchange(warned, true)) return true;
  return warn(
      "accel leaves functions to the interpreter while a debugger, tracer or profiler watches them (sys.settrace, "
      "sys.setprofile, sys.monitoring). Way out: " +
      std::string(reason_info(Reason::python_event).way_out));
}

// Warns while an exception may be pending, which is kept. False, with the warning as exception, only when none was pending.
bool warn_beside_exception(const std::string& message) {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  bool warned = warn(message);
  if (type == nullptr) return warned;
  PyErr_Restore(type, error, traceback);
  return true;
}

// Whether something that a device needs is not there: calls raise it, whatever their arguments are.
bool is_missing(Reason reason) {
  return reason == Reason::no_cuda_driver || reason == Reason::no_cuda_device || reason == Reason::no_nvrtc ||
         reason == Reason::no_cuda_library;
}

// Reasons that fullgraph accepts: there is nothing to compile, or the function only raises.
bool is_allowed_whole(Reason reason) { return reason == Reason::not_profitable || reason == Reason::will_raise; }

}  // namespace

Dispatcher::Dispatcher(PyObject* function, DispatchOptions options) : function_(function), options_(std::move(options)) {
  start_over();
}

void Dispatcher::reset() {
  if (ConstantHistory* history = ConstantHistory::of(function_code(function_.function()))) history->clear();
  start_over();
}

void Dispatcher::start_over() {
  // Destroyed last, as this may run Python code.
  VersionList dropped = versions_.take_all();
  CallLog calls = std::exchange(calls_, {});
  log_.clear();
  compiler_.clear();
  pinned_.reset();
  brings_guests_ = false;
  counters_ = {};
  last_version_ = -1;
  generation_++;
  function_.take_code();
  if (is_generator_code(function_.code())) pin(function_.at_start(Reason::generator, {}));
}

PyObject* Dispatcher::call(PyObject* const* args, size_t nargsf, PyObject* names) {
  Arguments arguments{args, nargsf, names};
  if (!is_stack_low()) return call_here(arguments);
  struct Call {
    Dispatcher* dispatcher;
    const Arguments& arguments;
  } call{this, arguments};
  auto body = [](void* context) {
    const Call& call = *static_cast<Call*>(context);
    return call.dispatcher->call_here(call.arguments);
  };
  return call_on_new_stack(body, &call);
}

PyObject* Dispatcher::call_here(const Arguments& arguments) {
  counters_.calls++;
  if (options_.disable || is_switched_off()) [[unlikely]] {
    log_.note_once(Reason::disabled);
    return interpret_as(arguments, Reason::disabled);
  }
  if (function_.has_other_code()) [[unlikely]]
    start_over();
  last_version_ = -1;
  return call_counted(arguments);
}

PyObject* Dispatcher::call_counted(const Arguments& arguments) {
  if (pinned_) [[unlikely]] {
    PyObject* result = nullptr;
    if (brings_guests_ && run_with_guests(arguments, &result)) return result;
    return interpret_because(arguments, *pinned_);
  }
  if (is_watched(function_.code())) [[unlikely]] {
    log_.note_once(Reason::python_event);
    if (!warn_of_tools()) return nullptr;
    return interpret_as(arguments, Reason::python_event);
  }
  if (!has_recursion_room()) [[unlikely]]
    return interpret(arguments);
  return bind_and_run(arguments);
}

PyObject* Dispatcher::interpret(const Arguments& arguments) {
  LastCall answered = calls_.take_next();
  answered.how = Answered::interpreted;
  counters_.interpreted++;
  PyObject* result = call_original(function_.function(), arguments.args, arguments.nargsf, arguments.names);
  calls_.record(std::move(answered));
  return result;
}

PyObject* Dispatcher::interpret_as(const Arguments& arguments, Reason reason) {
  calls_.next().reason = reason;
  return interpret(arguments);
}

std::optional<Fallback> Dispatcher::last_fallback() const {
  const LastCall& last = calls_.last();
  if (last.how == Answered::not_yet || last.how == Answered::whole) return std::nullopt;
  if (last.fallback) return last.fallback;
  if (last.how == Answered::left) {
    const Entry& entry = **last.entry;
    return entry.history().left_behind_call() ? *entry.history().left_behind_call() : entry.fallback_at(last.exit);
  }
  if (last.reason && pinned_ && pinned_->reason == *last.reason) return pinned_;
  if (last.reason) return function_.at_start(*last.reason, {});
  if (!last.entry) return std::nullopt;
  if (!(*last.entry)->is_ready()) {
    Fallback why = (*last.entry)->fallback();
    return why.reason == Reason::not_on_device ? function_.at_start(why.reason, std::move(why.detail)) : std::move(why);
  }
  return function_.at_start(Reason::not_profitable,
                            "compiled code did not finish several calls in a row, so that some calls skip it");
}

// Nested calls may be on trial, too.
PyObject* Dispatcher::interpret_on_trial(const Arguments& arguments) {
  EntryHold entry = *std::exchange(on_trial_, std::nullopt);
  calls_.next().fallback = function_.at_start(Reason::not_profitable, "the interpreter is timed against compiled code");
  const auto start = std::chrono::steady_clock::now();
  PyObject* result = interpret(arguments);
  if (result == nullptr) return nullptr;
  entry->trial().note_interpreted(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (entry->trial().is_lost()) {
    entry->leave_to_interpreter(Reason::not_profitable, "calls of unknown code from compiled code take longer");
    log_.note(entry->fallback());
  }
  return result;
}

PyObject* Dispatcher::interpret_because(const Arguments& arguments, Fallback why) {
  if (options_.must_be_full() && !is_allowed_whole(why.reason)) {
    refuse(why);
    return nullptr;
  }
  return interpret_as(arguments, why.reason);
}

PyObject* Dispatcher::bind_and_run(const Arguments& arguments) {
  Py_ssize_t count = PyVectorcall_NARGS(arguments.nargsf);
  if (arguments.names == nullptr && function_.takes_as_locals(count) && function_.local_count() <= small_locals) {
    PyObject* locals[small_locals];
    std::copy_n(arguments.args, count, locals);
    std::fill(locals + count, locals + function_.local_count(), nullptr);
    return run(arguments, locals);
  }
  BoundArguments bound;
  if (!bound.bind(function_.function(), arguments.args, arguments.nargsf, arguments.names))
    return interpret_as(arguments, Reason::will_raise);
  return run(arguments, bound.locals());
}

PyObject* Dispatcher::run(const Arguments& arguments, PyObject* const* locals) {
  PyObject* result = nullptr;
  device_ = chosen_device(options_.device);
  if (device_ >= 0 && event_modes().acted_on != 0) device_ = cpu_for_events;
  if (brings_guests_ && run_with_guests(arguments, &result)) [[unlikely]]
    return result;
  const bool verified = device_ == on_cpu && is_next_verified();
  if (verified && verify(arguments, locals, &result)) return result;
  Answer answer = try_versions(locals, &result);
  if (answer == Answer::none) {
    if (!brings_guests_ && run_with_guests(arguments, &result)) return result;
    calls_.forget_next();
    Added added = add_version(locals);
    if (added == Added::raised) return nullptr;
    if (added == Added::interrupted) return interpret_interrupted(function_.object(), locals);
    if (verified && added == Added::yes && verify(arguments, locals, &result)) return result;
    if (added == Added::yes) answer = try_versions(locals, &result);
    if (added == Added::no && pinned_) return interpret_because(arguments, *pinned_);
    if (added == Added::no && !calls_.next().reason) calls_.next().reason = Reason::being_compiled;
  }
  if (answer == Answer::trial) return interpret_on_trial(arguments);
  return answer == Answer::result ? result : interpret(arguments);
}

// Makes the call with DeviceArrays in place of arrays of other libraries. False when there are none.
bool Dispatcher::run_with_guests(const Arguments& arguments, PyObject** result) {
  if (arguments.has_no_guests) return false;
  Py_ssize_t count = PyVectorcall_NARGS(arguments.nargsf);
  GuestArguments guests;
  if (!guests.take(arguments.args, count + (arguments.names != nullptr ? PyTuple_GET_SIZE(arguments.names) : 0))) return true;
  if (!guests.are_found()) return false;
  brings_guests_ = true;
  *result = guests.give_back(call_counted({guests.args(), static_cast<size_t>(count), arguments.names, true}));
  return true;
}

// Verifies a version: runs it on copies, then the call in the interpreter, and compares. If they differ, the interpreter runs
// the function from then on.
bool Dispatcher::verify(const Arguments& arguments, PyObject* const* locals, PyObject** result) {
  for (size_t i = 0; i < versions_.size(); i++) {
    EntryHold entry = versions_[i];
    if (!entry->is_full() || !entry->changes_only_arguments() || !entry->fits(function_.object(), locals)) continue;
    auto check = Verification::begin(entry, function_.object(), arguments.args, arguments.nargsf, arguments.names);
    if (!check) return false;
    *result = interpret_as(arguments, Reason::verified);
    std::string difference = check->finish(*result);
    if (difference.empty()) return true;
    pin(function_.at_start(Reason::verification_failed, difference));
    if (!warn_beside_exception("accel and NumPy differ in " + difference +
                               ". NumPy's result is returned, here and from now on."))
      Py_CLEAR(*result);
    return true;
  }
  return false;
}

// Versions that compile the whole function are tried first, as guards of several versions may hold for one call.
Dispatcher::Answer Dispatcher::try_versions(PyObject* const* locals, PyObject** result) {
  Answer answer = try_versions_that(true, locals, result);
  return answer == Answer::none ? try_versions_that(false, locals, result) : answer;
}

Dispatcher::Answer Dispatcher::try_versions_that(bool are_full, PyObject* const* locals, PyObject** result) {
  const size_t hot = versions_.hot();
  if (hot < versions_.size() && versions_[hot]->is_full() == are_full) {
    Answer answer = try_version(hot, locals, result);
    if (answer != Answer::none) return answer;
  }
  for (size_t i = 0; i < versions_.size(); i++) {
    if (i == versions_.hot() || versions_[i]->is_full() != are_full) continue;
    Answer answer = try_version(i, locals, result);
    if (answer == Answer::none) continue;
    versions_.answered(i);
    return answer;
  }
  return Answer::none;
}

Dispatcher::Answer Dispatcher::try_version(size_t index, PyObject* const* locals, PyObject** result) {
  EntryHold entry = versions_[index];
  if (entry->choice() != by_arguments && entry->choice() != device_) return Answer::none;
  if (entry->second_try().is_due()) [[unlikely]] {
    if (!entry->fits(function_.object(), locals)) return Answer::none;
    if (!compile_again(*entry, locals)) return Answer::result;
  }
  if (options_.must_be_full() && !entry->is_full()) [[unlikely]]
    return entry->fits(function_.object(), locals) ? refuse(*entry) : Answer::none;
  if (entry->trial().wants_interpreter() && !options_.must_be_full()) [[unlikely]] {
    if (!entry->fits(function_.object(), locals)) return Answer::none;
    on_trial_.emplace(std::move(entry));
    return Answer::trial;
  }
  int64_t generation = generation_;
  RunMode mode = refuses_fallbacks() ? RunMode::whole : RunMode::ordinary;
  Outcome outcome = entry->run(function_.object(), locals, mode, result);
  if (outcome == Outcome::no_match) return Answer::none;
  if (generation == generation_) last_version_ = static_cast<int>(index);
  return answer_of(outcome, entry, generation, result);
}

Dispatcher::Answer Dispatcher::answer_of(Outcome outcome, const EntryHold& entry, int64_t generation, PyObject** result) {
  switch (outcome) {
    case Outcome::resumed:
      calls_.record({Answered::left, entry, entry->history().last_exit(), {}, {}});
      after_leaving(*entry, generation, result);
      return Answer::result;
    case Outcome::returned:
      counters_.compiled++;
      calls_.record_whole(entry);
      return Answer::result;
    case Outcome::raised:
      calls_.record({Answered::raised, entry, -1, {}, {}});
      return Answer::result;
    case Outcome::interrupted:
      counters_.interpreted++;
      calls_.record({Answered::interpreted, entry, -1, {}, function_.at_start(Reason::interrupted, {})});
      return Answer::result;
    case Outcome::refused:
      refuse(entry->fallback_at(entry->history().last_exit()));
      if (generation == generation_) learn(*entry);
      return Answer::result;
    case Outcome::events:
      calls_.expect_interpreted(entry);
      return after_events(*entry);
    case Outcome::gave_up:
      calls_.expect_interpreted(entry);
      return after_giving_up(*entry);
    default:
      calls_.expect_interpreted(entry);
      return Answer::interpret;
  }
}

// Called when the interpreter has finished a call from an exit. If the run ended within a call of unknown code, the stance can
// refuse it only now. The first result that differs from an assumption is accepted, as the next version can handle it.
void Dispatcher::after_leaving(Entry& entry, int64_t generation, PyObject** result) {
  counters_.side_exits++;
  counters_.compiled++;
  std::optional<Fallback> refused;
  if (entry.history().left_behind_call()) {
    log_.note(*entry.history().left_behind_call());
    const auto& seen = entry.history().seen_result();
    bool learns = seen && seen->second.kind != ResultKind::unknown;
    bool refuses = refuses_fallbacks() || (options_.fullgraph && seen);
    if (refuses && !learns && *result != nullptr) refused = entry.history().left_behind_call();
  }
  if (generation == generation_) learn(entry);
  if (!refused) return;
  Py_CLEAR(*result);
  refuse(*refused);
}

void Dispatcher::learn(Entry& entry) {
  if (compiler_.learn(entry) && versions_.drop(entry)) last_version_ = -1;
}

// A call that must be compiled as a whole but is not: raises, unless the reason is acceptable.
Dispatcher::Answer Dispatcher::refuse(const Entry& entry) {
  Fallback why = entry.fallback();
  return is_allowed_whole(why.reason) ? Answer::interpret : refuse(why);
}

Dispatcher::Answer Dispatcher::refuse(Fallback why) {
  raise_unsupported(function_.name(), why);
  calls_.forget_next();
  calls_.record({Answered::raised, {}, -1, {}, std::move(why)});
  return Answer::result;
}

Dispatcher::Answer Dispatcher::after_events(Entry& entry) {
  counters_.side_exits++;
  Fallback why = function_.at_start(Reason::floating_point_event, entry.events().last_events());
  log_.note(why);
  if (refuses_fallbacks()) return refuse(why);
  calls_.next().fallback = std::move(why);
  return Answer::interpret;
}

Dispatcher::Answer Dispatcher::after_giving_up(Entry& entry) {
  counters_.side_exits++;
  const Failure& problem = entry.history().problem();
  calls_.next().fallback = function_.at_start(problem.reason, problem.detail);
  log_.note(*calls_.next().fallback);
  return log_.report(problem, !options_.backend) ? Answer::interpret : Answer::result;
}

// Whether another version may be made now.
Dispatcher::Added Dispatcher::may_add_version(PyObject* const* locals) {
  if (compiler_.is_compiling()) return Added::no;
  bool full = static_cast<int64_t>(versions_.size()) >= options_.version_limit();
  if (full) {
    log_.note_once(Reason::recompile_limit);
    calls_.next().reason = Reason::recompile_limit;
  }
  bool fails = stance() == Stance::fail_on_recompile && !versions_.empty();
  if (full && !fails && !options_.must_be_full()) return Added::no;
  if (versions_.empty() && !full) return Added::yes;
  std::string difference = versions_.empty()
                               ? std::string()
                               : versions_[versions_.hot()]->captured().guards.first_failure(function_.object(), locals);
  if (fails) {
    raise_error("RecompileError", "a call of " + function_.name() +
                                      " fits no compiled version, and the stance is fail_on_recompile: not " + difference +
                                      ". Call it with such arguments before accel.set_stance(\"fail_on_recompile\").");
    return Added::raised;
  }
  if (full) {
    std::string detail = std::to_string(versions_.size()) + " versions; this call is not " + difference;
    raise_unsupported(function_.name(), function_.at_start(Reason::recompile_limit, detail));
    return Added::raised;
  }
  counters_.recompiles++;
  log_.note(function_.at_start(Reason::guard_failed, "not " + difference));
  log_record(LogTopic::recompiles,
             function_.name() + ": version " + std::to_string(versions_.size() + 1) + ", because not " + difference);
  return Added::yes;
}

// Makes and publishes another version for this call.
Dispatcher::Added Dispatcher::add_version(PyObject* const* locals) {
  Added allowed = may_add_version(locals);
  if (allowed != Added::yes) return allowed;
  int64_t generation = generation_;
  CompilingMark mark = compiler_.mark();
  Result<VersionCompiler::Made> made = compiler_.make(locals, versions_.size(), device_);
  if (!made.ok() && made.failure().reason == Reason::interrupted) return Added::interrupted;
  if (!made.ok() && made.failure().reason == Reason::several_devices) {
    raise_error("ArgumentError", function_.name() + ": " + describe(Reason::several_devices, made.failure().detail));
    return Added::raised;
  }
  if (!made.ok()) {
    pin(function_.at_start(made.failure().reason, made.failure().detail));
    return log_.report(made.failure(), !options_.backend) ? Added::no : Added::raised;
  }
  if (!made->entry) return Added::no;
  if (made->failure && made->failure->reason == Reason::interrupted) return Added::interrupted;
  if (made->failure && is_of_device(made->failure->reason) && made->entry->choice() != on_cpu && !made->entry->is_ready())
    return failed_on_device(*made->entry, *made->failure);
  if (generation == generation_) publish(std::move(made->entry));
  return report(made->failure) ? Added::yes : Added::raised;
}

// The device cannot run the version now. Later calls try again.
Dispatcher::Added Dispatcher::failed_on_device(const Entry& entry, const Failure& failure) {
  calls_.next().fallback = function_.at_start(failure.reason, failure.detail);
  log_.note(*calls_.next().fallback);
  const bool raises = is_missing(failure.reason) || entry.choice() == by_arguments || options_.must_be_full();
  if (!raises) return report(failure) ? Added::no : Added::raised;
  if (report_notices()) raise_device_failure(failure);
  return Added::raised;
}

// Makes the second try of a compile. False with an exception set.
bool Dispatcher::compile_again(Entry& entry, PyObject* const* locals) {
  if (compiler_.is_compiling()) return true;
  CompilingMark mark = compiler_.mark();
  Status built = compiler_.compile_again(entry, locals);
  if (!built.ok() && built.failure().reason == Reason::interrupted) return false;
  if (built.ok()) log_version(function_.name(), entry);
  return report(built.ok() ? std::nullopt : std::optional(built.failure()));
}

// Reports failures during the compile of a version. False with an exception set.
bool Dispatcher::report(const std::optional<Failure>& failure) {
  return report_notices() && (!failure || log_.report(*failure, !options_.backend));
}

void Dispatcher::publish(std::unique_ptr<Entry> entry) {
  log_.note_exits(*entry);
  if (entry->compilation() != nullptr && entry->compilation()->kernel->from_cache()) counters_.cache_hits++;
  log_version(function_.name(), *entry);
  bool is_final = !entry->is_ready() && !entry->second_try().is_planned();
  if (versions_.empty() && is_final && entry->choice() == on_cpu && entry->fits_every_call()) pin(entry->fallback());
  versions_.add(std::move(entry));
}

void Dispatcher::pin(Fallback why) {
  log_.note(why);
  pinned_ = std::move(why);
}

int Dispatcher::traverse(visitproc visit, void* arg) const {
  Py_VISIT(options_.backend.get());
  for (const EntryHold& entry : versions_.list()) {
    if (int stop = entry->traverse(visit, arg)) return stop;
  }
  return calls_.traverse(versions_.list(), visit, arg);
}

}  // namespace accel
