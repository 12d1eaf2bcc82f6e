#pragma once
// CpuLimit: how long a process may run, counted in the processor time that it and its children get. A machine that is busy
// does not shorten it.

#include <sys/types.h>

#include <chrono>

namespace accel {

class CpuLimit {
 public:
  // `group`: the process, which leads a process group of its own.
  CpuLimit(pid_t group, double seconds);

  // Whether the process has had its time, or gets no processor although as much time has passed: it waits for something that
  // does not come. Costs next to nothing before `seconds` have passed.
  bool is_over();

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration duration_of(double seconds);

  pid_t group_;
  double seconds_;
  Clock::time_point next_look_, progress_due_;
  double used_before_ = 0;  // processor time at the last test for progress
};

}  // namespace accel
