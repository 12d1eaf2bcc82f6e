#pragma once
// SecondTry: a compile that timed out is repeated once, after a pause as long as the first attempt, when the machine may be
// less busy.

#include <chrono>
#include <optional>

#include "base/reasons.h"

namespace accel {

class SecondTry {
 public:
  using Clock = std::chrono::steady_clock;

  // Plans the second try if the first one, begun at `start`, failed by a timeout.
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
