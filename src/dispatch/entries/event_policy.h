#pragma once
// EventPolicy: what an entry does about floating-point events that NumPy would report. A run with such an event is left to the
// interpreter, which reports it; after the first one a kernel is compiled that records events, so that later runs give the
// warnings themselves. Requires the GIL.

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/product/captured.h"
#include "codegen/kernel_abi.h"
#include "dispatch/entries/kernels.h"
#include "dispatch/entries/patience.h"
#include "dispatch/entries/run_plan.h"
#include "dispatch/events/event_plan.h"

namespace accel {

constexpr int floating_point_events = accel_divide | accel_overflow | accel_underflow | accel_invalid;

// The floating-point events of one run.
struct RunEvents {
  bool records = false;  // which operation had which event, for warnings when compiled code has run to its end
  bool is_small = true;  // the run keeps the GIL
  int heard = 0;         // events that end a run which does not record them
  uint8_t tables[64];    // AccelLaunch::events, heard, forbidden, where there is room
  std::vector<uint8_t> more_tables;
  std::vector<SiteEvents> log;
};

class EventPolicy {
 public:
  // All outlive this.
  EventPolicy(const Captured& captured, const RunPlan& plan, Kernels& kernels, Patience& patience);
  EventPolicy(const EventPolicy&) = delete;
  EventPolicy& operator=(const EventPolicy&) = delete;

  // Before a run: compiles the kernels that events of earlier runs ask for. False with an exception: interrupted.
  bool compile_wanted() {
    return (quiet_ != Variant::wanted || compile_quiet()) && (recording_ != Variant::wanted || compile_recording());
  }
  // Whether the kernel that records events runs now.
  bool records() {
    if (kernels_.always_records() || kernels_.recording() == nullptr || calls_to_record_ == 0) return kernels_.always_records();
    return may_warn_later();
  }
  // Which events a native kernel may have and notes. `run` outlives the launch.
  void prepare(RunEvents& run, AccelLaunch& launch) {
    if (run.records || !asks_after_run()) set_events(run, launch);
  }
  // The kernel is written in Python.
  void hear_all(RunEvents& run) { run.heard = event_plan_.masks().any_heard; }

  // Whether the results of a run stand that had these events (bits of AccelStatus) and did not record them.
  bool stands(const RunEvents& run, int events);
  // Whether the results of a run stand whose events cannot be reported after it.
  bool stands_unclear(const RunEvents& run, int events);
  enum class Verdict : uint8_t { stands, stands_once_reported, leaves };
  // Whether the results of a run stand that has recorded its events.
  Verdict judge_log(const RunEvents& run);
  // Gives NumPy's warnings of the log. False with an exception set.
  bool report(const RunEvents& run) const { return event_plan_.report(run.log); }

  // How many runs were left because of events.
  int64_t event_count() const { return events_; }
  // Which floating-point events the last of them was left for, and of which operations.
  const std::string& last_events() const { return last_events_; }

  int traverse(visitproc visit, void* arg) const { return event_plan_.traverse(visit, arg); }

 private:
  // State of a further kernel. wanted: events of earlier runs need it; settled: it has been compiled, or could not be.
  enum class Variant : uint8_t { not_wanted, wanted, settled };
  bool compile_quiet();
  bool compile_recording();
  bool may_warn_later();
  bool asks_after_run() const { return kernels_.compilation() != nullptr && !kernels_.has_flow(); }
  bool asks_of_log(const RunEvents& run) const;
  bool may_be_quieter(int events) const;
  void set_events(RunEvents& run, AccelLaunch& launch);
  void set_open_tables(RunEvents& run, AccelLaunch& launch) const;
  void set_tables(RunEvents& run, AccelLaunch& launch);

  const RunPlan& plan_;
  Kernels& kernels_;
  Patience& patience_;
  EventPlan event_plan_;
  Variant quiet_ = Variant::not_wanted;      // once a run had an invalid event that only a NaN may have been the reason of
  Variant recording_ = Variant::not_wanted;  // once a run had an event that was heard
  int calls_to_record_ = 0;
  bool asks_what_is_shown_ = false;  // before a run, whether warnings have been shown already
  int64_t events_ = 0;
  std::string last_events_;
};

}  // namespace accel
