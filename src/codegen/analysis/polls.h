#pragma once
// Safepoint polls: at which edges, and how often, loops of the control flow test whether the run is interrupted.

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "codegen/analysis/failures.h"

namespace accel {

// A short counted loop whose iterations run in strips, with a poll after each.
struct Strip {
  size_t latch = 0;
  long step = 0;    // what the latch adds to the counter
  long length = 0;  // added to the counter in a strip
  TempId counter = -1, end = -1;
  Dim fixed_end;  // an end that is constant during the run
};

// Edges are a block and the number of its edge.
struct Polls {
  PolledEdges edges;
  std::set<std::pair<size_t, int>> back_edges;
  std::set<std::pair<size_t, int>> optional_edges;  // these alone do not require backups of memory: a run may have to go on
  std::map<TempId, PollCost> explicit_polls;        // by condition of a block that polls explicitly: the cost of an iteration
  std::map<size_t, Strip> strips;                   // by header
  bool has_loops = true;
};

Polls find_polls(const Program& program, const Facts& facts);

// Whether the block polls explicitly, and branches on the result.
bool polls_explicitly(const Facts& facts, const ProgramBlock& block);
// The block that polls explicitly, and branches to this exit if the run is interrupted.
std::optional<size_t> explicit_poll_of(const Program& program, const Facts& facts, const ProgramBlock& exit);

}  // namespace accel
