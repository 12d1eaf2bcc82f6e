#include "schedule/loops/element_loops.h"

#include <optional>
#include <set>
#include <vector>

namespace accel {

namespace {

// Blocks of the loop that the edge from `latch` to `header` closes: those that lead to the latch without the header. Empty
// where the edge closes none.
std::set<int> loop_blocks(const Program& program, int header, int latch) {
  std::set<int> out = {header};
  std::vector<int> open = {latch};
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    if (!out.insert(block).second) continue;
    for (size_t from = 0; from < program.blocks.size(); ++from)
      for (const Edge& edge : program.blocks[from].edges)
        if (edge.target == block) open.push_back(static_cast<int>(from));
  }
  return out.contains(0) && header != 0 ? std::set<int>() : out;
}

constexpr int64_t most_work = 4096;  // element operations

bool computes_elements(const Program& program, const std::set<int>& blocks) {
  bool has_nests = false;
  for (int b : blocks) {
    for (const BlockStep& step : program.blocks[static_cast<size_t>(b)].steps) {
      if (step.kind != StepKind::nest) continue;
      has_nests = true;
      const Nest& nest = program.nests[static_cast<size_t>(step.nest)];
      const std::optional<int64_t> work = program.dims.as_constant(nest.work);
      if (!work || *work > most_work || nest.mapping == Mapping::library) return false;
    }
  }
  return has_nests;
}

}  // namespace

bool has_element_loop(const Program& program) {
  for (size_t latch = 0; latch < program.blocks.size(); ++latch) {
    for (const Edge& edge : program.blocks[latch].edges) {
      if (edge.target < 0) continue;
      const std::set<int> blocks = loop_blocks(program, edge.target, static_cast<int>(latch));
      if (computes_elements(program, blocks)) return true;
    }
  }
  return false;
}

}  // namespace accel
