#include "ir/analysis/loops.h"

#include <algorithm>
#include <map>

namespace accel {

std::vector<NaturalLoop> natural_loops(const Graph& graph, const Dominance& dominance) {
  std::map<BlockId, NaturalLoop> found;
  std::vector<std::vector<BlockId>> before = predecessors(graph);
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    const Terminator& t = graph.blocks[static_cast<size_t>(b)].terminator;
    for (int k = 0; k < target_count(t); ++k) {
      BlockId header = t.targets[k];
      if (!dominance.dominates(header, b)) continue;
      NaturalLoop& loop = found[header];
      loop.header = header;
      loop.latches.push_back(b);
      loop.blocks.insert(header);
      std::vector<BlockId> open = {b};
      while (!open.empty()) {
        BlockId next = open.back();
        open.pop_back();
        if (!loop.blocks.insert(next).second) continue;
        open.insert(open.end(), before[static_cast<size_t>(next)].begin(), before[static_cast<size_t>(next)].end());
      }
    }
  }
  std::vector<NaturalLoop> out;
  for (auto& [header, loop] : found) out.push_back(std::move(loop));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.blocks.size() > b.blocks.size(); });
  return out;
}

BlockId immediate_dominator(const Graph& graph, const Dominance& dominance, BlockId b) {
  BlockId best = -1;
  for (BlockId a = 0; a < static_cast<BlockId>(graph.blocks.size()); ++a) {
    if (a == b || !dominance.dominates(a, b)) continue;
    if (best < 0 || dominance.dominates(best, a)) best = a;
  }
  return best;
}

}  // namespace accel
