#pragma once
// The state of steps on segments: a graph without control flow, which may end in stores, and its nests.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/memory/placement.h"
#include "schedule/program/program.h"

namespace accel {

// Some requirements of stores are only known when nests are written; the steps then run again with these fields set.
struct SegmentState {
  explicit SegmentState(const Graph& whole);

  const Graph& graph;
  std::vector<NodeId> stores;
  // Requirements that earlier runs of the steps have found.
  std::set<ValueId> forced;    // values that must be in memory before the first store
  bool by_rows = false;        // whether to try storing row by row
  bool compute_first = false;  // whether all values must be computed before the first store
  bool again = false;          // set by a step to run all steps on the segment again
  // The products of the current run.
  Placement placement;
  std::optional<RowStores> rows;
  Program program;
  std::vector<std::string> notes;  // decisions, one line each
};

// Runs all steps again with all values that are stored computed before the first store.
void compute_before_stores(SegmentState& state);

// The graph's text and the values that have memory, or the nests if there are any.
std::string print(const SegmentState& state);

}  // namespace accel
