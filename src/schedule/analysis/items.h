#pragma once
// The items of a nest: what threads of a device compute independently of each other.

#include <vector>

#include "schedule/program/program.h"

namespace accel {

struct Items {
  std::vector<const Stmt*> loops;  // parallel loops whose iterations are the items, outermost first; none: there is one item
  Body before;                     // scalars from outside of the innermost loop, which each item computes again
  const Body* body = nullptr;      // of an item
};

// Takes parallel loops as items as long as nothing but scalars lies beside the next loop; of a nest of mapping `ordered` loops
// of any kind. The nest outlives the result.
Items items_of(const Nest& nest);
// Whether iterations of the nest's loops depend on each other in nothing but the order in which they store to one address.
bool has_ordered_items(const Program& program, const Nest& nest);
// Of items that run in order: whether they read what they overwrite. Else the last one of an address decides.
bool updates_elements(const Items& items);

inline bool is_parallel_loop(const Stmt& stmt) { return stmt.kind == StmtKind::loop && stmt.loop_kind == LoopKind::parallel; }
// A reduction, or a list, whose run threads may share.
bool has_shared_run(StmtKind kind);

}  // namespace accel
