#pragma once
// What the steps on segments work on: a graph without control flow that ends in a store at most, and its nests.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/memory/placement.h"
#include "schedule/program/program.h"

namespace accel {

// Which values stores need in memory shows when their nests are written. The steps then run again, with what is known by then.
struct SegmentState {
  explicit SegmentState(const Graph& whole);

  const Graph& graph;
  std::vector<NodeId> stores;
  // Of all times that the steps run.
  std::set<ValueId> forced;    // values that are computed before the first store
  bool by_rows = false;        // whether the stores are tried row by row
  bool compute_first = false;  // whether all values are computed before the first store
  bool again = false;          // set by a step: the steps are to run again from the first one on
  // Of this time.
  Placement placement;
  std::optional<RowStores> rows;
  Program program;
  std::vector<std::string> notes;  // decisions, one line each
};

// The graph's text and the values that have memory, or the nests if there are any.
std::string print(const SegmentState& state);

}  // namespace accel
