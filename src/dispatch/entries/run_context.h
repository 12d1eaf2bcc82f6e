#pragma once
// RunContext: what all runs of one entry share: the captured function, its kernels, and state that runs leave for later ones.

#include "capture/product/captured.h"
#include "dispatch/entries/event_policy.h"
#include "dispatch/entries/kernels.h"
#include "dispatch/entries/patience.h"
#include "dispatch/entries/run_history.h"
#include "dispatch/entries/run_plan.h"
#include "dispatch/entries/trial.h"

namespace accel {

struct RunContext {
  explicit RunContext(Captured taken)
      : captured(std::move(taken)),
        plan(captured),
        kernels(captured, plan),
        events(captured, plan, kernels, patience),
        history(captured.exits.size()) {}
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  Captured captured;
  const RunPlan plan;
  Kernels kernels;
  EventPolicy events;
  RunHistory history;
  Patience patience;
  Trial trial;
};

}  // namespace accel
