#pragma once
// Loops over elements whose stores masks select, in two halves: masks first, then what only selected elements need. The second
// half is skipped for strips without selected elements.

#include <optional>
#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

struct MaskedLoop {
  std::vector<const Stmt*> first;   // for each element: the masks, stores without one, what has events everywhere
  std::vector<const Stmt*> second;  // for elements that a mask selects; loads and constants may be in both
  std::vector<TempId> masks;        // where none of these holds, `second` does nothing
  std::vector<TempId> handed;       // masks that `first` computes and `second` reads, the above among them
  // Of `first`: moduli that are only compared with loop invariants, and these comparisons. Squares decide most of them. None
  // where the first half may not be done twice.
  std::set<const Stmt*> moduli, comparisons;
};

// Requires a loop without loops or calls in its body, whose iterations are independent. Nullopt when no mask selects all work
// of the second half, when that work would be little, or when both halves would need the same numbers or conflict in memory.
std::optional<MaskedLoop> masked_loop(const Program& program, const Stmt& loop);

}  // namespace accel
