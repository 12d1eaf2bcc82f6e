#pragma once
// Scalar promotion: an element that a loop reads and writes at one place all the time is a number of the loop. It is read in
// front of the loop, and stored on each way out of it.

#include <string>
#include <vector>

#include "ir/graph.h"

namespace accel {

// Inner loops first. Decisions are appended to `notes`.
void promote_scalars(Graph& graph, std::vector<std::string>* notes);

}  // namespace accel
