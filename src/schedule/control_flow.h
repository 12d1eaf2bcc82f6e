#pragma once
// Schedules graphs with control flow, stores and symbols bound at run time.
//
// Each block is cut into segments: runs of nodes without effects, up to a store, a bind or a call of the caller's. A segment
// becomes a graph of its own, which schedule_block turns into nests. What segments share is either a scalar, held in a temp of
// the program, or memory, held in a buffer. Views, constants and fills are not shared but computed where they are used.

#include <string>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Names the line and the event site of each statement after the node that it comes from.
void add_locations(const Graph& graph, Program& program);

// Schedules the entry block alone. A store must be its last node.
Result<Program> schedule_block(const Graph& graph, std::vector<std::string>* notes);

Result<Program> schedule_flow(const Graph& graph, std::vector<std::string>* notes);

}  // namespace accel
