#pragma once
// Walks up from a value to what it is computed from.

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace accel {

// What a walk does with a value: it ends there, leaves out what the value is computed from, or goes on to that.
enum class Above : uint8_t { found, nothing, operands };

// Whether `look` (ValueId -> Above) finds v or a value above it. Asks about each value once: a value that is used twice by one
// that is used twice would double the work with every step otherwise. `operands` is no answer for inputs.
template <class Look>
bool is_above(const Graph& graph, ValueId v, Look look) {
  std::vector<ValueId> open = {v};
  std::unordered_set<ValueId> seen;
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    Above answer = look(next);
    if (answer == Above::found) return true;
    if (answer == Above::nothing) continue;
    for (ValueId operand : graph.producer(next).operands)
      if (seen.insert(operand).second) open.push_back(operand);
  }
  return false;
}

}  // namespace accel
