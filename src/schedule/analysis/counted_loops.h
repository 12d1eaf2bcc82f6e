#pragma once
// Counted loops: those that go on until a number which changes by the same in each iteration reaches its end.

#include <cstdint>
#include <optional>

#include "ir/analysis/loops.h"

namespace accel {

// A loop that goes on until its counter, a parameter of the header that a symbol names, reaches `end`.
struct CountedLoop {
  ValueId counter = no_value;
  size_t place = 0;  // of the counter among the header's parameters
  int symbol = -1;
  int64_t step = 0;  // not 0
  Dim end;
};

// The counter of a loop whose header alone, at its end, tells whether it goes on. nullopt: it does not count. Adds dims to the
// graph.
std::optional<CountedLoop> counted_loop(Graph& graph, const NaturalLoop& loop);

}  // namespace accel
