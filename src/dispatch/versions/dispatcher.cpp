#include "dispatch/versions/dispatcher.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cpython/arguments.h"
#include "cpython/c_stack.h"
#include "dispatch/reports/notices.h"
#include "dispatch/signals/interrupt.h"
#include "dispatch/versions/constant_history.h"
#include "dispatch/versions/stance.h"
#include "dispatch/versions/verification.h"
#include "dispatch/versions/version_log.h"

namespace accel {
namespace {

constexpr int small_locals = 48;

// Failures of accel or of what it depends on, not of the function.
constexpr Reason own_failures[] = {Reason::internal_error,   Reason::no_compiler,    Reason::compiler_failed,
                                   Reason::compiler_timeout, Reason::backend_failed, Reason::load_failed};

bool is_own_failure(Reason reason) {
  return std::find(std::begin(own_failures), std::end(own_failures), reason) != std::end(own_failures);
}

// The toolchain warns of these itself (notices.h), once for all functions.
bool is_failure_of_machine(Reason reason) { return is_own_failure(reason) && reason != Reason::internal_error; }

std::string utf8(PyObject* text) {
  const char* found = text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  if (found == nullptr) PyErr_Clear();
  return found != nullptr ? found : "?";
}

bool same_place(const Fallback& a, const Fallback& b) {
  return a.reason == b.reason && a.line == b.line && a.file == b.file && a.detail == b.detail;
}

// Marks the process that compiles for as long as it lives. A child of fork() does not wait for a thread that it does not have.
class CompilingMark {
 public:
  explicit CompilingMark(int64_t& process) : process_(process) { process_ = getpid(); }
  ~CompilingMark() { process_ = 0; }
  CompilingMark(const CompilingMark&) = delete;
  CompilingMark& operator=(const CompilingMark&) = delete;

 private:
  int64_t& process_;
};

// One warning for the process that a tool keeps accel off. False when the warning filters made it an exception.
bool warn_of_tools() {
  static bool warned = false;
  if (std::exchange(warned, true)) return true;
  return warn(
      "accel leaves functions to the interpreter while a debugger, tracer or profiler watches them (sys.settrace, "
      "sys.setprofile, sys.monitoring). Way out: " +
      std::string(reason_info(Reason::python_event).way_out));
}

}  // namespace

Dispatcher::Dispatcher(PyObject* function, DispatchOptions options)
    : function_(reinterpret_cast<PyFunctionObject*>(function)), options_(std::move(options)) {
  start_over();
}

Dispatcher::~Dispatcher() = default;

void Dispatcher::reset() {
  if (ConstantHistory* history = ConstantHistory::of(function_code(function_))) history->clear();
  start_over();
}

void Dispatcher::start_over() {
  // Destroyed last: that may run Python code.
  VersionList dropped = std::move(versions_);
  LastCall last = std::exchange(last_call_, {}), next = std::exchange(next_call_, {});
  versions_.clear();
  events_.clear();
  seen_results_.clear();
  learned_.clear();
  warned_.clear();
  noted_once_ = 0;
  pinned_.reset();
  counters_ = {};
  hot_ = 0;
  last_version_ = -1;
  generation_++;
  code_ = PyRef::borrow(PyFunction_GET_CODE(function_));
  argument_count_ = code()->co_argcount;
  local_count_ = local_count(code());
  plain_signature_ = code()->co_kwonlyargcount == 0 && (code()->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) == 0;
  if (is_generator_code(code())) pin(at_start(Reason::generator, {}));
}

// Someone gave the function other code.
void Dispatcher::forget_if_redefined() {
  if (function_code(function_) != code()) [[unlikely]]
    start_over();
}

PyObject* Dispatcher::call(PyObject* const* args, size_t nargsf, PyObject* names) {
  Arguments arguments{args, nargsf, names};
  return is_stack_low() ? call_on_further_stack(arguments) : call_here(arguments);
}

PyObject* Dispatcher::call_on_further_stack(const Arguments& arguments) {
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
    note_once(Reason::disabled);
    return interpret_as(arguments, Reason::disabled);
  }
  forget_if_redefined();
  last_version_ = -1;
  if (pinned_) [[unlikely]]
    return interpret_because(arguments, *pinned_);
  if (is_watched(code())) [[unlikely]] {
    note_once(Reason::python_event);
    if (!warn_of_tools()) return nullptr;
    return interpret_as(arguments, Reason::python_event);
  }
  if (!has_recursion_room()) [[unlikely]]
    return interpret(arguments);
  return bind_and_run(arguments);
}

PyObject* Dispatcher::interpret(const Arguments& arguments) {
  LastCall answered = std::exchange(next_call_, {});
  answered.how = Answered::interpreted;
  counters_.interpreted++;
  PyObject* result = call_original(function_, arguments.args, arguments.nargsf, arguments.names);
  record(std::move(answered));
  return result;
}

// What the record before held is destroyed last: that may run Python code.
void Dispatcher::record(LastCall call) { std::swap(last_call_, call); }

PyObject* Dispatcher::interpret_as(const Arguments& arguments, Reason reason) {
  next_call_.reason = reason;
  return interpret(arguments);
}

std::optional<Fallback> Dispatcher::last_fallback() const {
  const LastCall& last = last_call_;
  if (last.how == Answered::not_yet || last.how == Answered::whole) return std::nullopt;
  if (last.fallback) return last.fallback;
  if (last.how == Answered::left) {
    const Entry& entry = **last.entry;
    return entry.history().left_behind_call() ? *entry.history().left_behind_call() : entry.fallback_at(last.exit);
  }
  if (last.reason && pinned_ && pinned_->reason == *last.reason) return pinned_;
  if (last.reason) return at_start(*last.reason, {});
  if (!last.entry) return std::nullopt;
  if (!(*last.entry)->is_ready()) return (*last.entry)->fallback();
  return at_start(Reason::not_profitable, "compiled code did not finish several calls in a row, so that some calls skip it");
}

// Calls within this one may be on trial, too.
PyObject* Dispatcher::interpret_on_trial(const Arguments& arguments) {
  EntryHold entry = *std::exchange(on_trial_, std::nullopt);
  next_call_.fallback = at_start(Reason::not_profitable, "the interpreter is timed against compiled code");
  const auto start = std::chrono::steady_clock::now();
  PyObject* result = interpret(arguments);
  if (result == nullptr) return nullptr;
  entry->trial().note_interpreted(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (entry->trial().is_lost()) {
    entry->leave_to_interpreter(Reason::not_profitable, "calls of unknown code from compiled code take longer");
    note(entry->fallback());
  }
  return result;
}

// What is no fault of a function that has to be compiled as a whole: there is nothing to compile, or it only raises.
static bool is_allowed_whole(Reason reason) { return reason == Reason::not_profitable || reason == Reason::will_raise; }

// False, with the warning as an exception, when the filters made it one and there was none before.
static bool warn_beside_exception(const std::string& message) {
  PyObject *type = nullptr, *error = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &error, &traceback);
  bool warned = warn(message);
  if (type == nullptr) return warned;
  PyErr_Restore(type, error, traceback);
  return true;
}

PyObject* Dispatcher::interpret_because(const Arguments& arguments, Fallback why) {
  if (must_be_full() && !is_allowed_whole(why.reason)) {
    refuse(why);
    return nullptr;
  }
  return interpret_as(arguments, why.reason);
}

PyObject* Dispatcher::bind_and_run(const Arguments& arguments) {
  Py_ssize_t count = PyVectorcall_NARGS(arguments.nargsf);
  if (plain_signature_ && arguments.names == nullptr && count == argument_count_ && local_count_ <= small_locals) {
    PyObject* locals[small_locals];
    std::copy_n(arguments.args, count, locals);
    std::fill(locals + count, locals + local_count_, nullptr);
    return run(arguments, locals);
  }
  BoundArguments bound;
  if (!bound.bind(function_, arguments.args, arguments.nargsf, arguments.names))
    return interpret_as(arguments, Reason::will_raise);
  return run(arguments, bound.locals());
}

PyObject* Dispatcher::run(const Arguments& arguments, PyObject* const* locals) {
  PyObject* result = nullptr;
  const bool verified = is_next_verified();
  if (verified && verify(arguments, locals, &result)) return result;
  Answer answer = try_versions(locals, &result);
  if (answer == Answer::none) {
    next_call_ = {};
    Added added = add_version(locals);
    if (added == Added::raised) return nullptr;
    if (added == Added::interrupted) return interpret_interrupted(function(), locals);
    if (verified && added == Added::yes && verify(arguments, locals, &result)) return result;
    if (added == Added::yes) answer = try_versions(locals, &result);
    if (added == Added::no && pinned_) return interpret_because(arguments, *pinned_);
    if (added == Added::no && !next_call_.reason) next_call_.reason = Reason::being_compiled;
  }
  if (answer == Answer::trial) return interpret_on_trial(arguments);
  return answer == Answer::result ? result : interpret(arguments);
}

// Makes the call in the interpreter when compiled code answers it on copies, and compares. Where they differ the interpreter
// runs the function from now on.
bool Dispatcher::verify(const Arguments& arguments, PyObject* const* locals, PyObject** result) {
  for (size_t i = 0; i < versions_.size(); i++) {
    EntryHold entry = versions_[i];
    if (!entry->is_full() || !entry->changes_only_arguments() || !entry->fits(function(), locals)) continue;
    auto check = Verification::begin(entry, function(), arguments.args, arguments.nargsf, arguments.names);
    if (!check) return false;
    *result = interpret_as(arguments, Reason::verified);
    std::string difference = check->finish(*result);
    if (difference.empty()) return true;
    pin(at_start(Reason::verification_failed, difference));
    if (!warn_beside_exception("accel and NumPy differ in " + difference +
                               ". NumPy's result is returned, here and from now on."))
      Py_CLEAR(*result);
    return true;
  }
  return false;
}

// Versions that compile the whole function come first: another version's guards may hold for the same call.
Dispatcher::Answer Dispatcher::try_versions(PyObject* const* locals, PyObject** result) {
  Answer answer = try_versions_that(true, locals, result);
  return answer == Answer::none ? try_versions_that(false, locals, result) : answer;
}

Dispatcher::Answer Dispatcher::try_versions_that(bool are_full, PyObject* const* locals, PyObject** result) {
  if (hot_ < versions_.size() && versions_[hot_]->is_full() == are_full) {
    Answer answer = try_version(hot_, locals, result);
    if (answer != Answer::none) return answer;
  }
  for (size_t i = 0; i < versions_.size(); i++) {
    if (i == hot_ || versions_[i]->is_full() != are_full) continue;
    Answer answer = try_version(i, locals, result);
    if (answer == Answer::none) continue;
    hot_ = i < versions_.size() ? i : 0;
    return answer;
  }
  return Answer::none;
}

Dispatcher::Answer Dispatcher::try_version(size_t index, PyObject* const* locals, PyObject** result) {
  EntryHold entry = versions_[index];
  if (entry->second_try().is_due()) [[unlikely]] {
    if (!entry->fits(function(), locals)) return Answer::none;
    if (!compile_again(*entry, locals)) return Answer::result;
  }
  if (must_be_full() && !entry->is_full()) [[unlikely]]
    return entry->fits(function(), locals) ? refuse(*entry) : Answer::none;
  if (entry->trial().wants_interpreter() && !must_be_full()) [[unlikely]] {
    if (!entry->fits(function(), locals)) return Answer::none;
    on_trial_.emplace(std::move(entry));
    return Answer::trial;
  }
  int64_t generation = generation_;
  RunMode mode = refuses_fallbacks() ? RunMode::whole : RunMode::ordinary;
  Outcome outcome = entry->run(function(), locals, mode, result);
  if (outcome == Outcome::no_match) return Answer::none;
  if (generation == generation_) last_version_ = static_cast<int>(index);
  return answer_of(outcome, entry, generation, result);
}

Dispatcher::Answer Dispatcher::answer_of(Outcome outcome, const EntryHold& entry, int64_t generation, PyObject** result) {
  switch (outcome) {
    case Outcome::resumed:
      record({Answered::left, entry, entry->history().last_exit(), {}, {}});
      after_leaving(*entry, generation, result);
      return Answer::result;
    case Outcome::returned:
      counters_.compiled++;
      note_whole(entry);
      return Answer::result;
    case Outcome::raised:
      record({Answered::raised, entry, -1, {}, {}});
      return Answer::result;
    case Outcome::interrupted:
      counters_.interpreted++;
      record({Answered::interpreted, entry, -1, {}, at_start(Reason::interrupted, {})});
      return Answer::result;
    case Outcome::refused:
      refuse(entry->fallback_at(entry->history().last_exit()));
      if (generation == generation_) learn(*entry);
      return Answer::result;
    case Outcome::events:
      next_call_ = {Answered::interpreted, entry, -1, {}, {}};
      return after_events(*entry);
    case Outcome::gave_up:
      next_call_ = {Answered::interpreted, entry, -1, {}, {}};
      return after_giving_up(*entry);
    default:
      next_call_ = {Answered::interpreted, entry, -1, {}, {}};
      return Answer::interpret;
  }
}

// Most calls are answered as the one before.
void Dispatcher::note_whole(const EntryHold& entry) {
  if (last_call_.how == Answered::whole && last_call_.entry && &**last_call_.entry == &*entry) return;
  record({Answered::whole, entry, -1, {}, {}});
}

// The interpreter has finished the call. What compiled code left behind a call of unknown code could not be refused before:
// the frames were running. A first result that the next version can take is no reason to refuse the call.
void Dispatcher::after_leaving(Entry& entry, int64_t generation, PyObject** result) {
  counters_.side_exits++;
  counters_.compiled++;
  std::optional<Fallback> refused;
  if (entry.history().left_behind_call()) {
    note(*entry.history().left_behind_call());
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

// The next call gets a version that knows what the call gives; one that gives now this and now that is left to the interpreter.
// Likewise one for indices of either sign, and for what is now a view and now a copy.
void Dispatcher::learn(Entry& entry) {
  if (auto seen = entry.history().take_seen_result()) {
    auto [known, fresh] = seen_results_.try_emplace(seen->first, seen->second);
    if (!fresh) known->second = {};
    drop_version(entry);
  } else if (auto reason = entry.met_other_way()) {
    learned_.insert(*reason);
    drop_version(entry);
  }
}

void Dispatcher::drop_version(const Entry& entry) {
  for (size_t i = 0; i < versions_.size(); i++) {
    if (&*versions_[i] != &entry) continue;
    EntryHold dropped = versions_[i];
    versions_.erase(versions_.begin() + static_cast<std::ptrdiff_t>(i));
    last_version_ = -1;
    hot_ = 0;
    return;
  }
}

// A call that has to be compiled as a whole but is not. Raises, unless nothing is wrong with leaving it to the interpreter.
Dispatcher::Answer Dispatcher::refuse(const Entry& entry) {
  Fallback why = entry.fallback();
  return is_allowed_whole(why.reason) ? Answer::interpret : refuse(why);
}

Dispatcher::Answer Dispatcher::refuse(Fallback why) {
  raise_unsupported(name(), why);
  next_call_ = {};
  record({Answered::raised, {}, -1, {}, std::move(why)});
  return Answer::result;
}

Dispatcher::Answer Dispatcher::after_events(Entry& entry) {
  counters_.side_exits++;
  Fallback why = at_start(Reason::floating_point_event, entry.events().last_events());
  note(why);
  if (refuses_fallbacks()) return refuse(why);
  next_call_.fallback = std::move(why);
  return Answer::interpret;
}

Dispatcher::Answer Dispatcher::after_giving_up(Entry& entry) {
  counters_.side_exits++;
  const Failure& problem = entry.history().problem();
  next_call_.fallback = at_start(problem.reason, problem.detail);
  note(*next_call_.fallback);
  return report_failure(problem) ? Answer::interpret : Answer::result;
}

// A function that has to be compiled as a whole may still be left for errors, warnings and failed checks; the stance refuses
// these, too.
bool Dispatcher::must_be_full() const { return options_.fullgraph || refuses_fallbacks(); }
bool Dispatcher::refuses_fallbacks() const { return stance() == Stance::fail_on_fallback; }

// Whether a further version may be made now.
Dispatcher::Added Dispatcher::may_add_version(PyObject* const* locals) {
  if (compiling_process_ != 0 && compiling_process_ == getpid()) return Added::no;
  bool full = static_cast<int64_t>(versions_.size()) >= settings().recompile_limit.get();
  if (full) {
    note_once(Reason::recompile_limit);
    next_call_.reason = Reason::recompile_limit;
  }
  bool fails = stance() == Stance::fail_on_recompile && !versions_.empty();
  if (full && !fails && !must_be_full()) return Added::no;
  if (versions_.empty() && !full) return Added::yes;
  std::string difference =
      versions_.empty() ? std::string() : versions_[hot_]->captured().guards.first_failure(function(), locals);
  if (fails) {
    raise_error("RecompileError", "a call of " + name() +
                                      " fits no compiled version, and the stance is fail_on_recompile: not " + difference +
                                      ". Call it with such arguments before accel.set_stance(\"fail_on_recompile\").");
    return Added::raised;
  }
  if (full) {
    std::string detail = std::to_string(versions_.size()) + " versions; this call is not " + difference;
    raise_unsupported(name(), at_start(Reason::recompile_limit, detail));
    return Added::raised;
  }
  counters_.recompiles++;
  note(at_start(Reason::guard_failed, "not " + difference));
  log_record(LogTopic::recompiles,
             name() + ": version " + std::to_string(versions_.size() + 1) + ", because not " + difference);
  return Added::yes;
}

// Captures once more where that shows that a constant of earlier versions has changed.
Result<Captured> Dispatcher::capture_call(PyObject* const* locals) {
  CaptureOptions options;
  options.budget = static_cast<int>(settings().capture_budget.get());
  options.seconds = settings().capture_seconds.get();
  options.stop_before_instruction = static_cast<int>(settings().stress_exits.get());
  options.trace = log_enabled(LogTopic::capture);
  options.fixed_sizes = options_.fixed_sizes;
  options.seen_results = &seen_results_;
  options.learned = learned_;
  PyRef code = code_;  // the history lives as long
  ConstantHistory* history = ConstantHistory::of(reinterpret_cast<PyCodeObject*>(code.get()));
  bool many_versions = 2 * static_cast<int64_t>(versions_.size()) >= settings().recompile_limit.get();
  if (history != nullptr) options.changed_constants = history->changed(many_versions);
  Result<Captured> captured = capture(function(), locals, local_count_, options);
  if (history == nullptr || !captured.ok() || !history->note(captured.value().guards)) return captured;
  std::set<std::string> changed = history->changed(many_versions);
  if (changed == options.changed_constants) return captured;
  options.changed_constants = std::move(changed);
  captured = capture(function(), locals, local_count_, options);
  if (captured.ok()) history->note(captured.value().guards);
  return captured;
}

Dispatcher::Added Dispatcher::add_version(PyObject* const* locals) {
  Added allowed = may_add_version(locals);
  if (allowed != Added::yes) return allowed;
  int64_t generation = generation_;
  CompilingMark mark(compiling_process_);
  SlowCompile time(name_and_place());
  Result<Captured> captured = capture_call(locals);
  if (captured.ok() && captured->code.get() != code_.get()) return Added::no;  // another thread has given it other code
  if (!captured.ok() && captured.failure().reason == Reason::interrupted) return Added::interrupted;
  if (!captured.ok()) {
    pin(at_start(captured.failure().reason, captured.failure().detail));
    return report_failure(captured.failure()) ? Added::no : Added::raised;
  }
  auto entry = std::make_unique<Entry>(std::move(captured).value());
  Status built = build_or_leave(*entry, locals, time);
  if (!built.ok() && built.failure().reason == Reason::interrupted) return Added::interrupted;
  if (generation == generation_) publish(std::move(entry));
  bool quiet = report_notices();
  return (built.ok() || report_failure(built.failure())) && quiet ? Added::yes : Added::raised;
}

// Where it fails the entry leaves its calls to the interpreter.
Status Dispatcher::build_or_leave(Entry& entry, PyObject* const* locals, SlowCompile& time) {
  time.begin(entry.captured());
  Status built = build(entry, locals);
  time.end(entry.compilation());
  if (built.ok()) return built;
  entry.leave_to_interpreter(built.failure().reason, built.failure().detail);
  entry.second_try().plan(built.failure().reason, time.start());
  return built;
}

// False with an exception set.
bool Dispatcher::compile_again(Entry& entry, PyObject* const* locals) {
  if (compiling_process_ != 0 && compiling_process_ == getpid()) return true;
  CompilingMark mark(compiling_process_);
  entry.second_try().begin();
  SlowCompile time(name_and_place());
  Status built = build_or_leave(entry, locals, time);
  if (!built.ok() && built.failure().reason == Reason::interrupted) return false;
  if (built.ok()) log_version(name(), entry);
  bool quiet = report_notices();
  return (built.ok() || report_failure(built.failure())) && quiet;
}

Status Dispatcher::build(Entry& entry, PyObject* const* locals) {
  const Captured& captured = entry.captured();
  if (!entry.fits(function(), locals)) {
    return fail(Reason::internal_error,
                "a new version does not fit its own call: not " + captured.guards.first_failure(function(), locals));
  }
  bool forced = settings().stress_exits.get() > 0 && entry.partial_exit() >= 0;
  bool refused = must_be_full() && entry.partial_exit() >= 0;
  if (refused || (!captured.worth_compiling && !forced)) {
    entry.leave_to_interpreter(Reason::not_profitable, {});
    return Unit{};
  }
  if (entry.does_nothing()) {
    entry.compile_nothing();
    return Unit{};
  }
  if (options_.backend) return entry.compile_with(options_.backend.get(), function(), locals);
  bool keep_texts = settings().keep_texts.get() || log_enabled(LogTopic::passes);
  return entry.compile_native(keep_texts);
}

void Dispatcher::publish(std::unique_ptr<Entry> entry) {
  note_exits(*entry);
  if (entry->compilation() != nullptr && entry->compilation()->kernel->from_cache()) counters_.cache_hits++;
  log_version(name(), *entry);
  bool is_final = !entry->is_ready() && !entry->second_try().is_planned();
  if (versions_.empty() && is_final && entry->fits_every_call()) pin(entry->fallback());
  hot_ = versions_.size();
  versions_.emplace_back(std::move(entry));
}

// What the version leaves to the interpreter, and what else capture found. Each place counts once; exits for errors and failed
// checks are noted when they are taken.
void Dispatcher::note_exits(const Entry& entry) {
  std::vector<Fallback> known;
  if (!entry.is_full()) known.push_back(entry.fallback());
  const Captured& captured = entry.captured();
  for (int exit = 0; exit < static_cast<int>(captured.exits.size()); exit++) {
    if (captured.exits[exit].kind == ExitKind::resume) known.push_back(entry.fallback_at(exit));
  }
  auto is_known = [&](const Fallback& found) {
    return std::any_of(known.begin(), known.end(), [&](const Fallback& other) { return same_place(found, other); });
  };
  for (const Note& found : captured.notes) {
    Fallback noted{found.reason, found.detail, found.file, found.line};
    if (!is_known(noted)) note(noted);
  }
  if (!entry.is_full()) note(entry.fallback());
  for (int exit = 0; exit < static_cast<int>(captured.exits.size()); exit++) {
    bool is_partial = captured.exits[exit].kind == ExitKind::resume && !entry.is_exceptional(exit);
    if (is_partial && exit != entry.partial_exit()) note(entry.fallback_at(exit));
  }
}

// Tells the user about a failure that is accel's own, once. False with an exception set.
bool Dispatcher::report_failure(const Failure& failure) {
  if (!is_own_failure(failure.reason)) return true;
  if (settings().strict.get()) {
    raise_error("InternalError", name() + ": " + describe(failure.reason, failure.detail));
    return false;
  }
  if (!options_.backend && is_failure_of_machine(failure.reason)) return true;
  if (!warned_.insert(static_cast<int>(failure.reason)).second) return true;
  return warn("accel runs " + name() + " in the interpreter. " + describe(failure.reason, failure.detail));
}

void Dispatcher::pin(Fallback why) {
  note(why);
  pinned_ = std::move(why);
}

void Dispatcher::note(const Fallback& what) {
  for (Event& event : events_) {
    if (!same_place(event.what, what)) continue;
    event.count++;
    return;
  }
  events_.push_back({what});
  if (what.reason == Reason::guard_failed) return;  // the topic `recompiles` has it
  std::string place = what.file.empty() ? std::string() : " at " + what.file + ":" + std::to_string(what.line);
  log_record(LogTopic::breaks, name() + place + ": " + describe(what.reason, what.detail));
}

// For what may happen at every call: it must cost nothing the second time.
void Dispatcher::note_once(Reason reason) {
  uint64_t bit = uint64_t{1} << static_cast<int>(reason);
  if ((noted_once_ & bit) != 0) return;
  noted_once_ |= bit;
  note(at_start(reason, {}));
}

std::string Dispatcher::name() const { return utf8(function_->func_qualname); }

std::string Dispatcher::name_and_place() const {
  return name() + " (" + utf8(code()->co_filename) + ":" + std::to_string(code()->co_firstlineno) + ")";
}

Fallback Dispatcher::at_start(Reason reason, std::string detail) const {
  return {reason, std::move(detail), utf8(code()->co_filename), code()->co_firstlineno};
}

// An entry that is among the versions, too, has been visited there: each of its references counts once.
int Dispatcher::traverse_dropped(const LastCall& call, visitproc visit, void* arg) const {
  if (!call.entry) return 0;
  auto is_it = [&](const EntryHold& entry) { return &*entry == &**call.entry; };
  bool listed = std::any_of(versions_.begin(), versions_.end(), is_it);
  return listed ? 0 : (*call.entry)->traverse(visit, arg);
}

int Dispatcher::traverse(visitproc visit, void* arg) const {
  Py_VISIT(options_.backend.get());
  for (const EntryHold& entry : versions_) {
    if (int stop = entry->traverse(visit, arg)) return stop;
  }
  return traverse_dropped(last_call_, visit, arg);
}

}  // namespace accel
