#pragma once
// The pass runner. A pass is a plain function that changes a graph and says whether it did; passes.inc lists them in order.

#include <vector>

#include "base/result.h"
#include "base/step.h"
#include "ir/graph.h"

namespace accel {

using PassFunction = bool (*)(Graph&);

struct Pass {
  const char* name;
  PassFunction run;
};

const std::vector<Pass>& passes();

// Runs the passes in order; verifies after each that changed the graph. With `keep_text` the records of those have its text.
Result<std::vector<StepRecord>> run_passes(Graph& graph, const StepOptions& options = {});

}  // namespace accel
