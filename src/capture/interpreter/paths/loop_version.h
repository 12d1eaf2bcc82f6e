#pragma once
// A loop of the graph: the state in which paths come to its header.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/interpreter/paths/path_state.h"

namespace accel {

// An extent that grows or shrinks by one with each iteration of a loop: the sum of the extent and the number of iterations (if
// it grows, their difference) is the same at the header in each iteration.
struct LoopTie {
  std::string extent, rounds;  // names of slots
  bool grows = true;
  Dim sum;
};

// A loop has a further version when a variable has another type after the first iteration.
struct LoopVersion {
  int id = 0;
  PathState state;
  std::set<std::string> widened;                         // names of the slots that are parameters of the header's block
  std::vector<std::pair<std::string, SourceId>> params;  // these in order, and the sources that they are part of
  std::vector<LoopTie> ties;
  int64_t position = 0;  // of its first instruction
  int symbols = 0;       // how many there were before
};

}  // namespace accel
