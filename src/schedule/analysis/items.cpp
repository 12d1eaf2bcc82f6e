#include "schedule/analysis/items.h"

#include <algorithm>

namespace accel {

bool has_shared_run(StmtKind kind) {
  return kind == StmtKind::pairwise || kind == StmtKind::masked_pairwise || kind == StmtKind::fold ||
         kind == StmtKind::argreduce || kind == StmtKind::list;
}

Items items_of(const Nest& nest) {
  Items items;
  for (items.body = &nest.body; !items.body->empty(); items.body = &items.loops.back()->body) {
    const Stmt& last = items.body->back();
    if (!is_parallel_loop(last) ||
        !std::all_of(items.body->begin(), items.body->end() - 1, [](const Stmt& s) { return is_number(s.kind); }))
      break;
    items.before.insert(items.before.end(), items.body->begin(), items.body->end() - 1);
    items.loops.push_back(&last);
  }
  return items;
}

}  // namespace accel
