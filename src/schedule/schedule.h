#pragma once
// Runs the steps from a graph to a program. A step is a function that changes a state and returns whether it did; steps.inc
// lists the steps in order.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "ir/graph.h"
#include "schedule/program/program.h"

namespace accel {

enum class StepUnit : uint8_t { graph, segment, program };

enum class StepTargets : uint8_t { all, cpu, device };

// A row of steps.inc.
struct StepInfo {
  const char* name;
  StepUnit unit;
  bool needs_flow;
  StepTargets targets;
};
const std::vector<StepInfo>& schedule_steps();

struct Schedule {
  Program program;                 // incomplete when the run has stopped before the last step
  std::vector<std::string> notes;  // decisions, one line each
  std::vector<StepRecord> steps;   // one per step, over all segments; with texts before and after it when `keep_text` is set
};

// Schedules a verified graph. Verifies after each step that changed something.
Result<Schedule> schedule(Graph graph, const StepOptions& options = {});

}  // namespace accel
