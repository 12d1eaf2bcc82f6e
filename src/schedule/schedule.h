#pragma once
// The runner of the steps from a graph to a program. A step is a plain function that changes what it works on and says whether
// it did; steps.inc lists them in order.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "ir/graph.h"
#include "schedule/program/program.h"

namespace accel {

enum class StepUnit : uint8_t { graph, segment, program };

// What steps.inc says of a step.
struct StepInfo {
  const char* name;
  StepUnit unit;
  bool needs_flow;
};
const std::vector<StepInfo>& schedule_steps();

struct Schedule {
  Program program;                 // not complete when the run has stopped before the last step
  std::vector<std::string> notes;  // decisions, one line each
  std::vector<StepRecord> steps;   // one each, for all segments; texts before and after it when `keep_text` is set
};

// Turns a verified graph into loops. Verifies after each step that changed something.
Result<Schedule> schedule(Graph graph, const StepOptions& options = {});

}  // namespace accel
