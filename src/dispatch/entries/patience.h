#pragma once
// Patience: whether compiled code is tried for the next call. Calls in a row that cost more than they save make it skip some.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace accel {

class Patience {
 public:
  // Whether the interpreter runs this call.
  bool skips() {
    if (calls_to_skip_ == 0) return false;
    calls_to_skip_--;
    return true;
  }

  // Before the kernel runs.
  void start() {
    if (streak_ > 0) begun_ = Clock::now();
  }
  // The call ended as it should.
  void succeeded() { streak_ = 0; }
  // What compiled code did was in vain.
  void spoilt() {
    if (++streak_ >= patience) calls_to_skip_ = int64_t{1} << std::min(streak_ - patience + 1, most_doublings);
  }
  // The call left through an exit for unusual cases. That is no loss when compiled code had done much of the work.
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
  // After this many calls in a row, calls are skipped: 2, 4, 8, ... between two attempts.
  static constexpr int patience = 4;
  static constexpr int most_doublings = 14;
  // Building a frame and going on in the interpreter costs a few microseconds.
  static constexpr auto worthwhile = std::chrono::microseconds(20);

  int streak_ = 0;
  int64_t calls_to_skip_ = 0;
  Clock::time_point begun_;
};

}  // namespace accel
