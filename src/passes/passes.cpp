#include "passes/passes.h"

#include <chrono>

#include "ir/analysis/verifier.h"
#include "ir/text/text.h"

namespace accel {

#define PASS(name) bool name(Graph&, const Target&);
#include "passes/passes.inc"
#undef PASS

const std::vector<Pass>& passes() {
  static const std::vector<Pass> table = {
#define PASS(name) {#name, name},
#include "passes/passes.inc"
#undef PASS
  };
  return table;
}

Result<std::vector<PassRecord>> run_passes(Graph& graph, const Target& target, const PassOptions& options) {
  std::vector<PassRecord> records;
  for (const Pass& pass : passes()) {
    if (options.stop_after >= 0 && records.size() == static_cast<size_t>(options.stop_after)) break;
    auto start = std::chrono::steady_clock::now();
    PassRecord record{pass.name, pass.run(graph, target), 0, {}};
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (record.changed && options.keep_text) record.text = print_graph(graph);
    if (record.changed && options.verify) {
      Status status = verify(graph);
      if (!status.ok()) return fail(status.failure().reason, "after pass " + record.name + ": " + status.failure().detail);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace accel
