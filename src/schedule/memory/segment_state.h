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

// Which values stores need in memory is known when their nests are written. The steps then run again with that knowledge.
struct SegmentState {
  explicit SegmentState(const Graph& whole);

  const Graph& graph;
  std::vector<NodeId> stores;
  // What earlier runs of the steps have found out.
  std::set<ValueId> forced;    // values that are computed before the first store
  bool by_rows = false;        // whether the stores are tried row by row
  bool compute_first = false;  // whether all values are computed before the first store
  bool again = false;          // set by a step: all steps on the segment are to run again
  // What this run makes.
  Placement placement;
  std::optional<RowStores> rows;
  Program program;
  std::vector<std::string> notes;  // decisions, one line each
};

// The graph's text and the values that have memory, or the nests if there are any.
std::string print(const SegmentState& state);

}  // namespace accel
