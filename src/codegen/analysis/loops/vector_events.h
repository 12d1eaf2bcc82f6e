#pragma once
// Which numbers of a loop in vectors tell, when its lanes have ended, whether an active lane had an event. Where instructions
// take no masks lanes that have ended go on to compute, and set flags that mean nothing.

#include <vector>

#include "codegen/analysis/loops/vector_loop.h"

namespace accel {

struct EventWitnesses {
  // Numbers of the loop (VectorLoop::Number::load) of which one is not finite in each lane that had an event other than
  // underflow while it was active: what has the event is not finite, and nothing but sums, products and the like is made of it
  // until it is stored. Empty: an event may leave no trace.
  std::vector<const Stmt*> numbers;
  // Temps equal in all lanes and iterations whose computation may have events: to be computed before events are sorted out.
  std::vector<TempId> scalars;
};

EventWitnesses event_witnesses(const Program& program, const VectorLoop& loop);

}  // namespace accel
