#pragma once
// RunHistory: statistics of the runs of an entry: their number, the exits they took, and how the last one ended.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/product/call_site.h"
#include "dispatch/reports/python_errors.h"
#include "runtime/cuda/device.h"

namespace accel {

class RunHistory {
 public:
  explicit RunHistory(size_t exits) : times_taken_(exits) {}

  // Clears the records about the previous run.
  void begin() {
    forget_problem();
    left_behind_call_.reset();
  }
  // Counts a run whose results are valid.
  void count_run() { runs_++; }
  void take_exit(int exit) {
    last_exit_ = exit;
    times_taken_[exit]++;
  }
  // Called when the interpreter has finished the run from the exit. Nested runs of the same entry do not count as the last one.
  void end_at(int exit) {
    last_exit_ = exit;
    left_behind_call_.reset();
  }
  void leave_behind_call(Fallback why) { left_behind_call_ = std::move(why); }
  void see_result(const std::string& place, const SeenResult& seen) { seen_result_.emplace(place, seen); }
  void fail(Failure problem) { problem_ = std::move(problem); }
  void forget_problem() {
    problem_.reason = Reason::internal_error;
    problem_.detail.clear();
  }

  // The number of runs that compiled code answered, in whole or up to an exit.
  int64_t runs() const { return runs_; }
  int64_t times_taken(int exit) const { return times_taken_[exit]; }
  // The exit that the last run took.
  int last_exit() const { return last_exit_; }
  // Where and why the last run continued in the interpreter after a call that it made; empty: it did not.
  const std::optional<Fallback>& left_behind_call() const { return left_behind_call_; }
  // The place and result of a call in the last run whose result differed from the assumption.
  const std::optional<std::pair<std::string, SeenResult>>& seen_result() const { return seen_result_; }
  std::optional<std::pair<std::string, SeenResult>> take_seen_result() { return std::exchange(seen_result_, std::nullopt); }
  // What the last run had a device do.
  void note_device_work(const DeviceCounters& work) { device_work_ = work; }
  const DeviceCounters& device_work() const { return device_work_; }
  // Why the last run gave up.
  const Failure& problem() const { return problem_; }

 private:
  int64_t runs_ = 0;
  std::vector<int64_t> times_taken_;  // by exit
  int last_exit_ = 0;
  std::optional<Fallback> left_behind_call_;
  std::optional<std::pair<std::string, SeenResult>> seen_result_;
  Failure problem_;
  DeviceCounters device_work_;
};

}  // namespace accel
