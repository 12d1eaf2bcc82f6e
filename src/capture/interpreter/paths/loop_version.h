#pragma once
// A version of a loop of the graph: the state in which paths reach its header.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/interpreter/paths/path_state.h"

namespace accel {

// An extent that grows or shrinks by one in each iteration of a loop: the sum (if it grows: the difference) of extent and
// iteration count is loop-invariant at the header.
struct LoopTie {
  std::string extent, rounds;  // names of slots
  bool grows = true;
  Dim sum;
};

// A loop gets another version when a variable has another type after the first iteration.
struct LoopVersion {
  int id = 0;
  PathState state;
  std::set<std::string> widened;                         // names of the slots that are parameters of the header's block
  std::vector<std::pair<std::string, SourceId>> params;  // names of those slots in order, and their sources
  std::vector<LoopTie> ties;
  int64_t position = 0;  // position of its first instruction
  int symbols = 0;       // number of symbols before it
};

}  // namespace accel
