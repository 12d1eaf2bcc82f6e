#include "dispatch/versions/fallback_log.h"

#include <algorithm>
#include <iterator>

#include "base/settings.h"

namespace accel {
namespace {

// Failures of accel or its dependencies, not of the function.
constexpr Reason own_failures[] = {Reason::internal_error,   Reason::no_compiler,    Reason::compiler_failed,
                                   Reason::compiler_timeout, Reason::backend_failed, Reason::load_failed,
                                   Reason::nvrtc_failed};

bool is_own_failure(Reason reason) {
  return std::find(std::begin(own_failures), std::end(own_failures), reason) != std::end(own_failures);
}

// Failures that the toolchain itself warns of (notices.h), once for all functions.
bool is_failure_of_machine(Reason reason) { return is_own_failure(reason) && reason != Reason::internal_error; }

bool same_place(const Fallback& a, const Fallback& b) {
  return a.reason == b.reason && a.line == b.line && a.file == b.file && a.detail == b.detail;
}

// The fallbacks of a version: as a whole and at its exits.
std::vector<Fallback> fallbacks_of(const Entry& entry) {
  std::vector<Fallback> found;
  if (!entry.is_full()) found.push_back(entry.fallback());
  const std::vector<Exit>& exits = entry.captured().exits;
  for (int exit = 0; exit < static_cast<int>(exits.size()); exit++)
    if (exits[exit].kind == ExitKind::resume) found.push_back(entry.fallback_at(exit));
  return found;
}

}  // namespace

bool is_of_device(Reason reason) {
  switch (reason) {
    case Reason::no_cuda_driver:
    case Reason::no_cuda_device:
    case Reason::no_nvrtc:
    case Reason::nvrtc_failed:
    case Reason::no_cuda_library:
    case Reason::cuda_failed:
    case Reason::out_of_device_memory:
      return true;
    default:
      return false;
  }
}

void FallbackLog::note(const Fallback& what) {
  for (Event& event : events_) {
    if (!same_place(event.what, what)) continue;
    event.count++;
    return;
  }
  events_.push_back({what});
  if (what.reason == Reason::guard_failed) return;  // logged under the topic `recompiles`
  std::string place = what.file.empty() ? std::string() : " at " + what.file + ":" + std::to_string(what.line);
  log_record(LogTopic::breaks, function_.name() + place + ": " + describe(what.reason, what.detail));
}

void FallbackLog::note_once(Reason reason) {
  uint64_t bit = uint64_t{1} << static_cast<int>(reason);
  if ((noted_once_ & bit) != 0) return;
  noted_once_ |= bit;
  note(function_.at_start(reason, {}));
}

void FallbackLog::note_exits(const Entry& entry) {
  const std::vector<Fallback> known = fallbacks_of(entry);
  auto is_known = [&](const Fallback& found) {
    return std::any_of(known.begin(), known.end(), [&](const Fallback& other) { return same_place(found, other); });
  };
  const Captured& captured = entry.captured();
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

bool FallbackLog::report(const Failure& failure, bool is_native) {
  const bool of_device = is_of_device(failure.reason);
  if (!is_own_failure(failure.reason) && !of_device) return true;
  if (settings().strict.get() && is_own_failure(failure.reason)) {
    raise_error("InternalError", function_.name() + ": " + describe(failure.reason, failure.detail));
    return false;
  }
  if (is_native && is_failure_of_machine(failure.reason)) return true;
  if (!warned_.insert(failure.reason).second) return true;
  const char* where = of_device ? " on the CPU. " : " in the interpreter. ";
  return warn("accel runs " + function_.name() + where + describe(failure.reason, failure.detail));
}

void FallbackLog::clear() {
  events_.clear();
  warned_.clear();
  noted_once_ = 0;
}

}  // namespace accel
