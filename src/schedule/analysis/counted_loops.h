#pragma once
// Counted loops: loops over a number that changes by a constant in each iteration and stops at a bound.

#include <cstdint>
#include <optional>

#include "ir/analysis/loops.h"

namespace accel {

// A loop over a counter: a parameter of the header that is bound to a symbol.
struct CountedLoop {
  ValueId counter = no_value;
  size_t place = 0;  // index of the counter among the header's parameters
  int symbol = -1;
  int64_t step = 0;  // added to the counter in each iteration; not 0
  Dim end;
};

// What each iteration adds to a parameter of the header; nullopt when that is not one constant.
std::optional<int64_t> step_of(const Graph& graph, const NaturalLoop& loop, ValueId param);

// The counter of a loop whose only exit test is the branch at the end of the header; nullopt when there is none. Adds dims to
// the graph.
std::optional<CountedLoop> counted_loop(Graph& graph, const NaturalLoop& loop);

}  // namespace accel
