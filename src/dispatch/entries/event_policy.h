#pragma once
// EventPolicy: how an entry handles floating-point events that NumPy would report. A run with such an event is repeated by the
// interpreter, which reports it; after the first one a kernel is compiled that records events, so that later runs issue the
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
  bool records = false;  // whether the kernel records which operation had which event, for warnings after the run
  bool is_small = true;  // the run keeps the GIL
  int heard = 0;         // reported events, which end a run that does not record them
  uint8_t tables[64];    // AccelLaunch::events, heard and forbidden, if they fit
  std::vector<uint8_t> more_tables;
  std::vector<SiteEvents> log;
};

class EventPolicy {
 public:
  // All arguments outlive this.
  EventPolicy(const Captured& captured, const RunPlan& plan, Kernels& kernels, Patience& patience);
  EventPolicy(const EventPolicy&) = delete;
  EventPolicy& operator=(const EventPolicy&) = delete;

  // Compiles the kernels that events of earlier runs have requested. To be called before a run; false with an exception when
  // interrupted.
  bool compile_wanted() {
    return (quiet_ != Variant::wanted || compile_quiet()) && (recording_ != Variant::wanted || compile_recording());
  }
  // Whether the next run uses the kernel that records events.
  bool records() {
    if (kernels_.always_records() || kernels_.recording() == nullptr || calls_to_record_ == 0) return kernels_.always_records();
    return may_warn_later();
  }
  // Sets which events a native kernel accepts and records. `run` outlives the launch.
  void prepare(RunEvents& run, AccelLaunch& launch) {
    if (run.records || !asks_after_run()) set_events(run, launch);
  }
  // Sets the events for a kernel written in Python: every reported event ends the run.
  void hear_all(RunEvents& run) { run.heard = event_plan_.masks().any_heard; }

  // Whether the results of a run that had these events (bits of AccelStatus), without recording them, are valid.
  bool stands(const RunEvents& run, int events);
  // Whether the results of a run are valid whose events cannot be reported after it.
  bool stands_unclear(const RunEvents& run, int events);
  enum class Verdict : uint8_t { stands, stands_once_reported, leaves };
  // Whether the results of a run that has recorded its events are valid.
  Verdict judge_log(const RunEvents& run);
  // Issues NumPy's warnings for the log. False with an exception set.
  bool report(const RunEvents& run) const { return event_plan_.report(run.log); }

  // The number of runs that were left to the interpreter because of events.
  int64_t event_count() const { return events_; }
  // The events, with their operations, because of which the last such run was left.
  const std::string& last_events() const { return last_events_; }

  int traverse(visitproc visit, void* arg) const { return event_plan_.traverse(visit, arg); }

 private:
  // State of an additional kernel. wanted: events of earlier runs need it; settled: it was compiled, or could not be.
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
  Variant quiet_ =
      Variant::not_wanted;  // wanted after a run with an invalid event that a quiet comparison of a NaN would not have had
  Variant recording_ = Variant::not_wanted;  // wanted after a run with a reported event
  int calls_to_record_ = 0;
  bool asks_what_is_shown_ = false;  // whether to find out, before a run, which warnings have been shown already
  int64_t events_ = 0;
  std::string last_events_;
};

}  // namespace accel
