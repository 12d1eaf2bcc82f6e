#include "dispatch/entries/event_policy.h"

#include <algorithm>

namespace accel {
namespace {

// After this many calls without an event the plain kernel is used again: the recording one takes up to twice the time, while a
// call whose event is not recorded is repeated.
constexpr int most_calls_without_events = 8;

uint8_t* copy_tables(RunEvents& run, const std::vector<uint8_t>& tables) {
  uint8_t* copy = run.tables;
  if (tables.size() > sizeof run.tables) {
    run.more_tables.resize(tables.size());
    copy = run.more_tables.data();
  }
  std::copy(tables.begin(), tables.end(), copy);
  return copy;
}

}  // namespace

EventPolicy::EventPolicy(const Captured& captured, const RunPlan& plan, Kernels& kernels, Patience& patience)
    : plan_(plan), kernels_(kernels), patience_(patience), event_plan_(captured) {}

// Compiles the kernel with quiet comparisons. If that fails, the interpreter continues to repeat calls with NaNs.
bool EventPolicy::compile_quiet() {
  Status made = kernels_.compile_quiet();
  if (!made.ok() && made.failure().reason == Reason::interrupted) return false;
  quiet_ = Variant::settled;
  if (made.ok()) patience_.succeeded();
  return true;
}

// Compiles the recording kernel. If that fails, the interpreter continues to repeat calls with events. Not for versions that
// call unknown code, which could see that warnings come late.
bool EventPolicy::compile_recording() {
  if (plan_.calls_python) {
    recording_ = Variant::settled;
    return true;
  }
  Status made = kernels_.compile_recording();
  if (!made.ok() && made.failure().reason == Reason::interrupted) return false;
  recording_ = Variant::settled;
  if (!made.ok()) return true;
  calls_to_record_ = most_calls_without_events;
  patience_.succeeded();
  return true;
}

bool EventPolicy::may_warn_later() {
  const EventMasks& masks = event_plan_.masks();
  return (masks.any_heard & ~masks.any_forbidden) != 0;
}

// Whether the run logs all events and finds out afterwards which ones are reported: small runs without stores to inputs.
bool EventPolicy::asks_of_log(const RunEvents& run) const {
  return kernels_.always_records() && !plan_.writes_inputs && run.is_small;
}

// Whether the event may be due to a comparison with a NaN alone.
bool EventPolicy::may_be_quieter(int events) const {
  return events == event_invalid && quiet_ == Variant::not_wanted && kernels_.signals_on_nans();
}

// Sets the events that do not end the kernel: those that are not reported, or can be reported after the run.
void EventPolicy::set_events(RunEvents& run, AccelLaunch& launch) {
  if (!run.records && !event_plan_.has_events()) {
    launch.accepted = launch.ignored = floating_point_events;
    return;
  }
  if (asks_of_log(run)) return set_open_tables(run, launch);
  if (run.records) return set_tables(run, launch);
  run.heard = event_plan_.masks().any_heard;
  if (asks_what_is_shown_ && kernels_.has_flow()) run.heard &= ~event_plan_.shown_events();
  launch.accepted = launch.ignored = floating_point_events & ~run.heard;
}

void EventPolicy::set_open_tables(RunEvents& run, AccelLaunch& launch) const {
  const std::vector<uint8_t>& open = event_plan_.open_tables();
  const size_t sites = (open.size() - 1) / 3;
  uint8_t* tables = copy_tables(run, open);
  launch.accepted = floating_point_events;
  launch.events = tables, launch.heard = tables + sites + 1, launch.forbidden = launch.heard + sites;
  launch.site_count = static_cast<int>(sites);
}

void EventPolicy::set_tables(RunEvents& run, AccelLaunch& launch) {
  const EventMasks& masks = event_plan_.masks();
  const size_t sites = masks.heard.size();
  uint8_t* tables = copy_tables(run, masks.tables);
  uint8_t *heard = tables + sites + 1, *forbidden = heard + sites;
  if (asks_what_is_shown_) event_plan_.drop_shown(heard);
  const bool has_late = (masks.any_heard & ~masks.any_forbidden) != 0;  // otherwise both tables of events are equal
  const bool unseen = !plan_.writes_inputs || !has_late || prints_unseen(masks.state, true);
  if (!unseen) std::copy(masks.heard.begin(), masks.heard.end(), forbidden);
  launch.accepted = floating_point_events & ~(unseen ? masks.any_forbidden : masks.any_heard);
  launch.ignored = launch.accepted & ~masks.any_heard;
  launch.events = tables, launch.heard = heard, launch.forbidden = forbidden;
  launch.site_count = static_cast<int>(sites);
  launch.once = masks.state.once;
}

// A native kernel without control flow does not end at events; whether they are reported is found out after the run.
bool EventPolicy::stands(const RunEvents& run, int events) {
  if (events != 0) events &= asks_after_run() ? event_plan_.masks().any_heard : run.heard;
  return events == 0 || stands_unclear(run, events);
}

// When all operations that may have had these events have issued their warnings before, no warning is missing, and the results
// of a kernel without control flow are valid.
bool EventPolicy::stands_unclear(const RunEvents& run, int events) {
  last_events_ = event_plan_.describe(events, run.log);
  if (!run.records && event_plan_.are_shown(events)) {
    asks_what_is_shown_ = true;
    return !kernels_.has_flow();
  }
  events_++;
  patience_.spoilt();
  if (!run.records && may_be_quieter(events))
    quiet_ = Variant::wanted;
  else if (recording_ == Variant::not_wanted && kernels_.compilation() != nullptr && kernels_.recording() == nullptr)
    recording_ = Variant::wanted;
  else if (kernels_.recording() != nullptr)
    calls_to_record_ = run.records ? 0 : most_calls_without_events;
  return false;
}

EventPolicy::Verdict EventPolicy::judge_log(const RunEvents& run) {
  if (asks_of_log(run) && event_plan_.forbids(run.log)) return stands_unclear(run, 0) ? Verdict::stands : Verdict::leaves;
  bool heard = !run.log.empty() && event_plan_.hears(run.log);
  calls_to_record_ = heard ? most_calls_without_events : std::max(calls_to_record_ - 1, 0);
  if (!heard) return Verdict::stands;
  asks_what_is_shown_ = true;
  const WarningState state = warning_state();
  bool in_time = state.hearing != Hearing::now && prints_unseen(state, plan_.writes_inputs);
  if (in_time || plan_.writes_inputs) return Verdict::stands_once_reported;
  last_events_ = "an event that others see at once";
  return Verdict::leaves;
}

}  // namespace accel
