#pragma once
// State tiling: a counted loop whose body is pointwise over one index space runs for one tile of elements after the other, so
// that the state of a tile stays in registers and the nearest memory, and a tile that does not change any more is done.

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "schedule/program/program.h"

namespace accel {

// `for counter in range(counter, end): state = next(state)` in two blocks: the header compares, the body computes, and perhaps
// asks whether the run is interrupted. What the program counts (down, by steps, from a start) is an expression of the counter.
struct PointwiseLoop {
  BlockId header = 0, body = 0;
  int exit_edge = 1;  // of the header's branch
  ValueId counter = no_value, next_counter = no_value;
  ValueId end = no_value;  // what the counter is compared with; no_value: `end_dim` is what it does not reach
  std::optional<Dim> end_dim;
  std::optional<int> bound;  // a symbol that is the counter's value
  // How an interrupted run leaves after a slice of the iterations: an exit without outputs, or the block of one that has some.
  // Neither: all iterations run without interruption.
  int poll = 0;
  BlockId leaves_to = -1;
  bool is_sliced() const { return poll > 0 || leaves_to >= 0; }
  std::vector<ValueId> states;  // array parameters of the header
  std::vector<ValueId> next;    // their values after an iteration
  // Masks: where none holds, the next states equal the states, as do all later ones. Empty: unknown.
  std::vector<ValueId> changing;
  // What the loop does besides (tile_sinking.h), in nodes of its body. Empty: nothing.
  std::vector<ValueId> starts;  // per state: what it is in the beginning; no_value: what is in its memory
  std::vector<ValueId> kept;    // computed once for each tile
  std::vector<ValueId> ends;    // per state: what is stored in its memory in the end, itself or a version of it
};

struct GraphState;
// Finds the loops that run tile by tile. Requires a graph whose memory is owned (copy_insertion.h).
Result<bool> tile_states(GraphState& state);

// Element operations of an iteration.
Dim work_of(const Graph& graph, const PointwiseLoop& loop, DimTable& dims);

}  // namespace accel
