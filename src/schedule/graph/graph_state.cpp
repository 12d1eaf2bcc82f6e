#include "schedule/graph/graph_state.h"

#include "ir/text/text.h"

namespace accel {

std::string print(const GraphState& state) {
  std::string out = print_graph(state.graph);
  for (const auto& [header, loop] : state.tiled_loops) {
    auto count = [](const char* what, const std::vector<ValueId>& values) { return what + std::to_string(values.size()); };
    out += "# block " + std::to_string(header) + " runs tile by tile:" + count(" states ", loop.states) +
           count(", masks of what changes ", loop.changing) + count(", starts ", loop.starts) + count(", kept ", loop.kept) +
           count(", ends ", loop.ends) + "\n";
  }
  return out;
}

}  // namespace accel
