#pragma once
// State tiling: a counted loop whose body is elementwise over one index space runs all iterations for one tile of elements
// after the other. The state of a tile stays in registers and the first-level cache, and tiles that no longer change end early.

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "schedule/program/program.h"

namespace accel {

// `for counter in range(counter, end): state = next(state)` in two blocks: the header compares, the body computes and may poll
// for an interrupt. Other kinds of counting (down, by steps, from a start) are expressions of the counter.
struct PointwiseLoop {
  BlockId header = 0, body = 0;
  int exit_edge = 1;  // of the header's branch
  ValueId counter = no_value, next_counter = no_value;
  ValueId end = no_value;  // what the counter is compared with; no_value: `end_dim` is the bound
  std::optional<Dim> end_dim;
  std::optional<int> bound;  // the symbol bound to the counter
  // How an interrupted run leaves after a slice of the iterations: the exit without outputs, or the block of one with outputs.
  // Neither is set: all iterations run without a poll.
  int poll = 0;
  BlockId leaves_to = -1;
  bool is_sliced() const { return poll > 0 || leaves_to >= 0; }
  std::vector<ValueId> states;  // array parameters of the header
  std::vector<ValueId> next;    // their values after an iteration
  // Masks of changing elements: where none holds, all later states equal the current ones. Empty: unknown.
  std::vector<ValueId> changing;
  // Nodes of the body that tile_sinking.h has moved there. Empty: none.
  std::vector<ValueId> starts;  // per state: its initial value; no_value: the content of its memory
  std::vector<ValueId> kept;    // values computed once per tile
  std::vector<ValueId> ends;    // per state: the value stored at the end, the state itself or a version of it
};

struct GraphState;
// Finds the loops that run tile by tile. Requires a graph whose memory is owned (copy_insertion.h).
Result<bool> tile_states(GraphState& state);

// Estimated element operations of one iteration.
Dim work_of(const Graph& graph, const PointwiseLoop& loop, DimTable& dims);

}  // namespace accel
