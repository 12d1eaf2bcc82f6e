#pragma once
// Trial: times a version that calls unknown code very often against the interpreter. Each such call is slower from compiled
// code, which has to gain more elsewhere. Both run in turn.

#include <cstdint>

namespace accel {

class Trial {
 public:
  // Whether the interpreter should run the next call.
  bool wants_interpreter() const { return compiled_runs_ > interpreted_runs_; }
  // Records the time of a run of compiled code, and its number of calls of unknown code.
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

  double compiled_ = 0, interpreted_ = 0;  // in seconds
  int compiled_runs_ = 0, interpreted_runs_ = 0;
};

}  // namespace accel
