#pragma once
// Trial: whether a version that calls unknown code very often is worth it. Each such call takes longer than the interpreter's
// own, which what is compiled around it has to win back. Both run in turn, and are timed.

#include <cstdint>

namespace accel {

class Trial {
 public:
  // Whether the next call is for the interpreter.
  bool wants_interpreter() const { return compiled_runs_ > interpreted_runs_; }
  // A run of compiled code has taken this long and made so many calls of unknown code.
  void note_compiled(double seconds, int64_t calls) {
    if (is_over() || calls < many_calls) return;
    compiled_ += seconds;
    compiled_runs_++;
  }
  void note_interpreted(double seconds) {
    interpreted_ += seconds;
    interpreted_runs_++;
  }
  // Whether the interpreter was faster.
  bool is_lost() const { return is_over() && interpreted_ * margin < compiled_; }

 private:
  static constexpr int64_t many_calls = 500;
  static constexpr int rounds = 3;
  static constexpr double margin = 1.25;
  bool is_over() const { return interpreted_runs_ == rounds; }

  double compiled_ = 0, interpreted_ = 0;  // seconds
  int compiled_runs_ = 0, interpreted_runs_ = 0;
};

}  // namespace accel
