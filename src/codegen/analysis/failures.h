#pragma once
// Failures of a run: what may stop it before its end, so that memory has to be restored.

#include <map>
#include <utility>

#include "codegen/analysis/facts.h"

namespace accel {

// What an iteration of a loop subtracts from the budget that a run has until its next poll (`turns` in the text). The unit is
// an iteration of a few statements.
struct PollCost {
  int fixed = 1;
  std::vector<Dim> work;   // element operations, each of which costs one
  bool has_loops = false;  // loops that poll by themselves
};
// By edge (block, number of its edge) with a poll: the cost of an iteration.
using PolledEdges = std::map<std::pair<size_t, int>, PollCost>;

struct Failures {
  int events = 0;       // floating-point events (EventBits)
  bool others = false;  // errors of NumPy's loops and of calls, memory, Ctrl-C at a polled edge without an exit
  // Numbers that are outputs of exits, in programs of several blocks. The caller has memory for them at the start, unless they
  // are to be arrays.
  std::vector<int> outputs;
};

// Whether an output of an exit is a number rather than an array.
bool is_number(const ExitOutput& output);

// In the steps of a block from `first` on and in all that may follow. Where there are several blocks, memory that steps and
// exits take is among `others`; in a program of one block it is not, but for heap scratch.
Failures failures_from(const Program& program, const Facts& facts, const PolledEdges& polls, size_t block, size_t first);

// Events that a run may have had before a step of a block.
int events_before(const Program& program, const Facts& facts, size_t block, size_t step);

}  // namespace accel
