#include "dispatch/versions/version_compiler.h"

#include <unistd.h>

#include <utility>

#include "base/settings.h"
#include "dispatch/events/event_plan.h"
#include "dispatch/versions/constant_history.h"

namespace accel {

CompilingMark::CompilingMark(int64_t& process) : process_(process) { process_ = getpid(); }

bool VersionCompiler::is_compiling() const { return compiling_process_ != 0 && compiling_process_ == getpid(); }

void VersionCompiler::clear() {
  seen_results_.clear();
  learned_.clear();
}

// The next version assumes the kind of result that a call of unknown code returned; calls with results of several kinds are
// left to the interpreter. It also handles both cases of an assumption that failed, such as the sign of an index.
bool VersionCompiler::learn(Entry& entry) {
  if (auto seen = entry.history().take_seen_result()) {
    auto [known, fresh] = seen_results_.try_emplace(seen->first, seen->second);
    if (!fresh) known->second = {};
    return true;
  }
  auto reason = entry.met_other_way();
  if (reason) learned_.insert(*reason);
  return reason.has_value();
}

CaptureOptions VersionCompiler::capture_options() const {
  CaptureOptions options;
  options.budget = static_cast<int>(settings().capture_budget.get());
  options.seconds = settings().capture_seconds.get();
  options.stop_before_instruction = static_cast<int>(settings().stress_exits.get());
  options.trace = log_enabled(LogTopic::capture);
  options.fixed_sizes = options_.fixed_sizes;
  options.seen_results = &seen_results_;
  options.learned = learned_;
  return options;
}

// Captures a call, and again if the guards show that a constant of earlier versions has changed.
Result<Captured> VersionCompiler::capture_call(PyObject* const* locals, size_t versions) {
  CaptureOptions options = capture_options();
  PyRef code = PyRef::borrow(reinterpret_cast<PyObject*>(function_.code()));  // keeps the history alive
  ConstantHistory* history = ConstantHistory::of(reinterpret_cast<PyCodeObject*>(code.get()));
  bool many_versions = 2 * static_cast<int64_t>(versions) >= options_.version_limit();
  if (history != nullptr) options.changed_constants = history->changed(many_versions);
  Result<Captured> captured = capture(function_.object(), locals, function_.local_count(), options);
  if (history == nullptr || !captured.ok() || !history->note(captured.value().guards)) return captured;
  std::set<std::string> changed = history->changed(many_versions);
  if (changed == options.changed_constants) return captured;
  options.changed_constants = std::move(changed);
  captured = capture(function_.object(), locals, function_.local_count(), options);
  if (captured.ok()) history->note(captured.value().guards);
  return captured;
}

static constexpr char acts_on_events[] = "numpy.errstate that raises, prints or calls";

// What the device cannot do yet is done by the CPU, on copies of arguments that are on the device.
Result<VersionCompiler::Made> VersionCompiler::make(PyObject* const* locals, size_t versions, int device) {
  SlowCompile time(function_.name_and_place());
  Wanted wanted{.choice = device, .device = device};
  if (device == cpu_for_events) wanted = {.choice = device, .why_not_on_device = acts_on_events};
  ACCEL_TRY(Made made, make_for(locals, versions, wanted, time));
  if (!made.failure) return made;
  const Failure why = *made.failure;
  const bool is_unsupported = why.reason == Reason::not_on_device;
  if (!is_unsupported && why.reason != Reason::nvrtc_failed) return made;
  const bool is_resident = made.entry->choice() == by_arguments;
  wanted = {.choice = device, .copies_to_host = is_resident, .why_not_on_device = why.detail};
  const bool can_copy = is_unsupported && !options_.backend && !made.entry->calls_python();
  if (wanted.copies_to_host && !can_copy) {
    if (is_unsupported) made.failure.reset();
    return made;
  }
  ACCEL_TRY(Made for_cpu, make_for(locals, versions, wanted, time));
  if (!is_unsupported && !for_cpu.failure) for_cpu.failure = why;
  return for_cpu;
}

// The two devices, when arrays of a call are on several. nullopt: they are on one at most.
static std::optional<std::string> several_devices(const GuardSet& guards) {
  const Guard* first = nullptr;
  auto text = [&](const Guard& guard) {
    return guards.sources[static_cast<size_t>(guard.source)].text + " on cuda:" + std::to_string(guard.array.device);
  };
  for (const Guard& guard : guards.guards) {
    if (guard.kind != GuardKind::array || guard.array.device < 0) continue;
    if (first != nullptr && first->array.device != guard.array.device) return text(*first) + ", " + text(guard);
    if (first == nullptr) first = &guard;
  }
  return std::nullopt;
}

Result<VersionCompiler::Made> VersionCompiler::make_for(PyObject* const* locals, size_t versions, const Wanted& wanted,
                                                        SlowCompile& time) {
  ACCEL_TRY(Captured captured, capture_call(locals, versions));
  if (auto found = several_devices(captured.guards)) return fail(Reason::several_devices, std::move(*found));
  captured.choice = wanted.choice;
  captured.device = wanted.device;
  for (const Guard& guard : captured.guards.guards)
    if (guard.kind == GuardKind::array && guard.array.device >= 0) {
      captured.choice = by_arguments;
      captured.device = wanted.copies_to_host ? on_cpu : guard.array.device;
    }
  if (captured.device >= 0) captured.graph.target.kind = TargetKind::cuda;
  if (!wanted.why_not_on_device.empty() && captured.device < 0) {
    const Fallback start = function_.at_start(Reason::not_on_device, wanted.why_not_on_device);
    captured.notes.push_back({start.reason, start.detail, start.file, start.line});
  }
  Made made;
  if (captured.code.get() != reinterpret_cast<PyObject*>(function_.code())) return made;
  made.entry = std::make_unique<Entry>(std::move(captured));
  Status built = build_or_leave(*made.entry, locals, time);
  if (!built.ok()) made.failure = built.failure();
  return made;
}

Status VersionCompiler::compile_again(Entry& entry, PyObject* const* locals) {
  entry.second_try().begin();
  SlowCompile time(function_.name_and_place());
  return build_or_leave(entry, locals, time);
}

// Compiles the entry; when that fails, the entry leaves its calls to the interpreter.
Status VersionCompiler::build_or_leave(Entry& entry, PyObject* const* locals, SlowCompile& time) {
  time.begin(entry.captured());
  Status built = build(entry, locals);
  time.end(entry.compilation());
  if (built.ok()) return built;
  entry.leave_to_interpreter(built.failure().reason, built.failure().detail);
  entry.second_try().plan(built.failure().reason, time.start());
  return built;
}

Status VersionCompiler::build(Entry& entry, PyObject* const* locals) {
  const Captured& captured = entry.captured();
  if (!entry.fits(function_.object(), locals)) {
    return fail(Reason::internal_error,
                "a new version does not fit its own call: not " + captured.guards.first_failure(function_.object(), locals));
  }
  bool forced = settings().stress_exits.get() > 0 && entry.partial_exit() >= 0;
  bool refused = options_.must_be_full() && entry.partial_exit() >= 0;
  if (refused || (!captured.worth_compiling && !forced)) {
    entry.leave_to_interpreter(Reason::not_profitable, {});
    return Unit{};
  }
  if (entry.does_nothing()) {
    entry.compile_nothing();
    return Unit{};
  }
  if (captured.device >= 0 && captured.choice != by_arguments && events_acted_on(captured) != 0)
    return fail(Reason::not_on_device, acts_on_events);
  if (options_.backend && captured.device >= 0) return fail(Reason::not_on_device, "a backend in Python");
  if (options_.backend) return entry.compile_with(options_.backend.get(), function_.object(), locals);
  bool keep_texts = settings().keep_texts.get() || log_enabled(LogTopic::passes) || log_enabled(LogTopic::schedule);
  return entry.compile_native(keep_texts, options_.reduce_overhead);
}

}  // namespace accel
