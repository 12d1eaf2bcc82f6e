#pragma once
// The pass runner. A pass is a plain function that changes a graph and says whether it did; passes.inc lists them in order.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace accel {

enum class TargetKind : uint8_t { cpu, cuda };

struct Target {
  TargetKind kind = TargetKind::cpu;
};

using PassFunction = bool (*)(Graph&, const Target&);

struct Pass {
  const char* name;
  PassFunction run;
};

const std::vector<Pass>& passes();

struct PassRecord {
  std::string name;
  bool changed = false;
  double seconds = 0;
  std::string text;  // the graph after the pass, when it changed and `keep_text` is set
};

struct PassOptions {
  int stop_after = -1;  // run only the first n passes
  bool keep_text = false;
  bool verify = true;
};

// Runs the passes in order; verifies after each that changed the graph.
Result<std::vector<PassRecord>> run_passes(Graph& graph, const Target& target, const PassOptions& options = {});

}  // namespace accel
