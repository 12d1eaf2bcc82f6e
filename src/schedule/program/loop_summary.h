#pragma once
// Summary of what the loops of a Program compute, for accel.explain.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

struct LoopSummary {
  std::set<std::pair<int, int>> lines;  // index of the source file, line
  std::vector<std::string> operations;  // NumPy's names without repetition
  bool is_parallel = false;             // large enough loops are split over threads
};

// One summary for each nest that computes something; nests that only move elements are called "copy".
std::vector<LoopSummary> summarise_loops(const Program& program);

}  // namespace accel
