#pragma once
// Where loops of the control flow ask whether the run is interrupted (safepoint polls): at which edges, and how often.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/analysis/failures.h"

namespace accel {

// A short counted loop whose iterations run in strips: the run is asked after each.
struct Strip {
  size_t latch = 0;
  long step = 0;    // what the latch adds to the counter
  long length = 0;  // added to the counter in a strip
  TempId counter = -1, end = -1;
  Dim fixed_end;  // an end that is the same in the whole run
};

// Edges are a block and the number of its edge.
struct Polls {
  PolledEdges edges;
  std::set<std::pair<size_t, int>> back_edges;
  std::set<std::pair<size_t, int>> optional_edges;  // no reason to keep memory that is written: a run may have to go on
  std::map<TempId, Turns> questions;                // by conditions of blocks that ask themselves: what an iteration counts for
  std::map<size_t, Strip> strips;                   // by header
  bool has_loops = true;
};

Polls find_polls(const Program& program, const Facts& facts);

// Whether the block asks whether the run is interrupted, and branches on that.
bool asks_itself(const Facts& facts, const ProgramBlock& block);
// The block that asks whether the run is interrupted, and branches to this exit if so.
std::optional<size_t> asked_by(const Program& program, const Facts& facts, const ProgramBlock& exit);

}  // namespace accel
