#pragma once
// FallbackLog: what one function left to the interpreter and why, for accel.explain: once per reason and place. Requires the
// GIL.

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

class FallbackLog {
 public:
  explicit FallbackLog(const WrappedFunction& function) : function_(function) {}  // outlives this

  void note(const Fallback& what);
  // At the function's start. For what may happen at every call: it costs nothing the second time.
  void note_once(Reason reason);
  // What the version leaves to the interpreter, and what else capture found. Each place counts once; exits for errors and
  // failed checks are noted when they are taken.
  void note_exits(const Entry& entry);
  // Tells the user about a failure that is accel's own, once. False with an exception set.
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
