#pragma once
// Patience: exponential backoff for compiled code. When several calls in a row cost more than they save, some calls go to the
// interpreter.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace accel {

class Patience {
 public:
  // Whether this call is skipped and goes to the interpreter.
  bool skips() {
    if (calls_to_skip_ == 0) return false;
    calls_to_skip_--;
    return true;
  }

  // To be called before the kernel runs.
  void start() {
    if (streak_ > 0) begun_ = Clock::now();
  }
  // The call was answered by compiled code.
  void succeeded() { streak_ = 0; }
  // The work of compiled code was discarded.
  void spoilt() {
    if (++streak_ >= patience) calls_to_skip_ = int64_t{1} << std::min(streak_ - patience + 1, most_doublings);
  }
  // The call left through an exceptional exit. That is no loss when compiled code had already run for long.
  void left() {
    bool was_timed = streak_ > 0;
    if (was_timed && Clock::now() - begun_ > worthwhile) {
      streak_ = 1;
      return;
    }
    spoilt();
  }

 private:
  using Clock = std::chrono::steady_clock;
  // After this many losses in a row, 2, 4, 8, ... calls are skipped between attempts.
  static constexpr int patience = 4;
  static constexpr int most_doublings = 14;
  // Building a frame and resuming the interpreter costs a few microseconds.
  static constexpr auto worthwhile = std::chrono::microseconds(20);

  int streak_ = 0;
  int64_t calls_to_skip_ = 0;
  Clock::time_point begun_;
};

}  // namespace accel
