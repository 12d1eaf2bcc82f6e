#pragma once
// What the runners of passes and of the schedule's steps share: a step is a function that says whether it changed what it works
// on.

#include <chrono>
#include <string>

#include "base/result.h"

namespace accel {

struct StepOptions {
  int stop_after = -1;  // run only the first n steps of the list
  bool keep_text = false;
  bool verify = true;
};

// One step that ran.
struct StepRecord {
  std::string name;
  bool changed = false;
  double seconds = 0;
  std::string before, text;  // what the step works on, before and after it, as far as the runner keeps texts
};

// Runs a step and, if it changed anything, `check`, unless `verify` is false. Adds the time of the step to its record. `kind`:
// what the stage calls a step.
template <class Run, class Check>
Status run_step(const char* kind, StepRecord& record, bool verify, const Run& run, const Check& check) {
  const auto start = std::chrono::steady_clock::now();
  ACCEL_TRY(const bool changed, run());
  record.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.changed = record.changed || changed;
  if (!changed || !verify) return Unit{};
  Status status = check();
  if (status.ok()) return status;
  return fail(status.failure().reason, std::string("after ") + kind + " " + record.name + ": " + status.failure().detail);
}

}  // namespace accel
