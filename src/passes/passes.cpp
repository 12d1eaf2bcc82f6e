#include "passes/passes.h"

#include "ir/analysis/verifier.h"
#include "ir/text/text.h"

namespace accel {

#define PASS(name) bool name(Graph&);
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

Result<std::vector<StepRecord>> run_passes(Graph& graph, const StepOptions& options) {
  std::vector<StepRecord> records;
  for (const Pass& pass : passes()) {
    if (options.stop_after >= 0 && records.size() == static_cast<size_t>(options.stop_after)) break;
    StepRecord& record = records.emplace_back();
    record.name = pass.name;
    auto run = [&]() -> Result<bool> { return pass.run(graph); };
    ACCEL_TRY([[maybe_unused]] Unit done, run_step("pass", record, options.verify, run, [&] { return verify(graph); }));
    if (record.changed && options.keep_text) record.text = print_graph(graph);
  }
  return records;
}

}  // namespace accel
