#pragma once
// SecondTry: a compile that ran out of time is made once more, when the machine may be less busy: after as long again as the
// first one took.

#include <chrono>
#include <optional>

#include "base/reasons.h"

namespace accel {

class SecondTry {
 public:
  using Clock = std::chrono::steady_clock;

  // The first compile failed, begun at `start`.
  void plan(Reason why, Clock::time_point start) {
    if (why != Reason::compiler_timeout || was_made_) return;
    Clock::time_point now = Clock::now();
    due_ = now + (now - start);
  }
  bool is_planned() const { return due_.has_value(); }
  bool is_due() const { return due_ && Clock::now() >= *due_; }
  void begin() {
    due_.reset();
    was_made_ = true;
  }

 private:
  std::optional<Clock::time_point> due_;
  bool was_made_ = false;
};

}  // namespace accel
