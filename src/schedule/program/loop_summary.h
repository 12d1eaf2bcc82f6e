#pragma once
// What the loops of a Program compute, in the words of the source: for accel.explain.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

struct LoopSummary {
  std::set<std::pair<int, int>> lines;  // index among the graph's source files, line
  std::vector<std::string> operations;  // NumPy's names, each once, in the order of the code
  bool is_parallel = false;             // the iterations are split over threads when there are enough
};

// One for each nest that computes something; nests that only move elements say "copy".
std::vector<LoopSummary> summarise_loops(const Program& program);

}  // namespace accel
