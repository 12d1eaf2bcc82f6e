#pragma once
// FallbackLog: what one function left to the interpreter and why, for accel.explain: one event per reason and place. Requires
// the GIL.

#include <cstdint>
#include <set>
#include <vector>

#include "base/result.h"
#include "dispatch/entries/entry.h"
#include "dispatch/versions/wrapped_function.h"

namespace accel {

struct Event {
  Fallback what;
  int64_t count = 1;
};

// Whether something that a device needs is not there, or has failed.
bool is_of_device(Reason reason);

class FallbackLog {
 public:
  explicit FallbackLog(const WrappedFunction& function) : function_(function) {}  // `function` outlives this

  void note(const Fallback& what);
  // Notes a reason at the function's start. Cheap after the first time, as it may occur at every call.
  void note_once(Reason reason);
  // Notes what the version leaves to the interpreter, and other findings of capture, once per place. Exits for errors and
  // failed checks are noted when they are taken.
  void note_exits(const Entry& entry);
  // Warns about a failure of accel itself, once. False with an exception set.
  [[nodiscard]] bool report(const Failure& failure, bool is_native);

  const std::vector<Event>& events() const { return events_; }
  void clear();

 private:
  const WrappedFunction& function_;
  std::vector<Event> events_;
  std::set<Reason> warned_;
  uint64_t noted_once_ = 0;  // bits of reasons
};

}  // namespace accel
