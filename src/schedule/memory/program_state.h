#pragma once
// The state of steps on programs.

#include <map>
#include <optional>
#include <utility>

#include "schedule/graph/graph_state.h"
#include "schedule/graph/segments.h"
#include "schedule/memory/buffer_assignment.h"
#include "schedule/program/program.h"

namespace accel {

// A segment as a graph of its own, and that graph's program.
struct LoweredSegment {
  SegmentGraph part;
  Program program;
};

// The graph has control flow, unless only `program` is used. Must not be moved, as `segments` refers to `graph`.
struct ProgramState : GraphState {
  std::optional<Segments> segments;
  Places places;
  std::map<std::pair<BlockId, size_t>, LoweredSegment> lowered;  // by block and position among its segments
  Program program;
};

}  // namespace accel
