#pragma once
// Control: what the writers of the control flow share (ControlWriter): one function of a program's blocks and how it is being
// written at this point.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/analysis/polls.h"
#include "codegen/emit/emission.h"
#include "codegen/emit/functions/nest_texts.h"

namespace accel {

// By exit, in the order in which they are written: for each output from `first` on the memory that it is taken from.
struct ExitTable {
  int first = 0, parent = -1;
  std::vector<int> homes;                    // no_home: an output of another kind
  std::vector<std::pair<int, int>> changes;  // what differs from the parent: output - first, home
};

struct Control {
  // The whole program.
  Control(Copy& copy, const NestFunctions& nests, std::string name);
  // A part of the iterations of one of its loops.
  Control(const Control& whole, const ParallelLoop& loop, std::string name);

  // Whether a symbol changes while this function runs.
  bool is_bound(int symbol) const;
  // The text of the status and events of the run so far: the flags gather the events of all it does.
  std::string events_text() const;

  Emission emission;
  const Program& program;
  const NestFunctions& nests;
  std::string name;
  int events = 0;  // of scalar steps
  Polls polls;
  std::set<BufferId> fixed;                            // buffers whose memory does not move during the run
  std::vector<std::set<BufferId>> allocated_at_start;  // by block
  std::vector<BufferId> protected_buffers;
  std::map<TempId, int> homes;              // numbers that exits read from memory, and their slots in it; empty: none
  const ParallelLoop* loop = nullptr;       // null: the whole program
  std::vector<std::set<int>> loop_symbols;  // of the whole program's loops: symbols that their functions name

  std::set<BufferId> allocated;  // buffers that have memory at this point
  std::vector<ExitTable> exit_tables;
  bool has_draws = false;
};

// Whether the loop's blocks bind a symbol.
bool binds(const Program& program, const ParallelLoop& loop, int symbol);

}  // namespace accel
