#pragma once
// Control flow of a graph: edges, dominance, exits, and which values are versions of pinned memory.

#include <map>
#include <vector>

#include "ir/graph.h"

namespace accel {

// Whether a graph needs more than a list of loop nests: several blocks, versions of memory, calls, or symbols bound at run
// time.
bool has_flow(const Graph& graph);

std::vector<std::vector<BlockId>> predecessors(const Graph& graph);

class Dominance {
 public:
  explicit Dominance(const Graph& graph);
  // Every path from the entry to b goes through a. Unreachable blocks are dominated by all.
  bool dominates(BlockId a, BlockId b) const { return rows_[static_cast<size_t>(b)][static_cast<size_t>(a)]; }

 private:
  std::vector<std::vector<bool>> rows_;
};

// The outputs of one exit: types, and the number of its first among the graph's outputs.
struct ExitOutputs {
  int first_output = 0;
  std::vector<Type> types;
};
// Indexed by exit number, closed ones included. Requires a verified graph.
std::vector<ExitOutputs> exits_of(const Graph& graph);

// Where a symbol gets its value.
struct SymbolBinding {
  BlockId block = 0;
  NodeId node = -1;
};
std::map<int, SymbolBinding> bound_symbols(const Graph& graph);

constexpr int not_pinned = -1;
constexpr int mixed_origin = -2;  // a block parameter that versions of an input and other values reach
// Per value: index of the input whose memory it is a version of, or one of the above.
std::vector<int> pinned_inputs(const Graph& graph);

// Inputs (indices) that the graph stores to.
std::vector<int> written_inputs(const Graph& graph);

}  // namespace accel
