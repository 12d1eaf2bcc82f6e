#include "schedule/analysis/items.h"

#include <algorithm>

namespace accel {

bool has_shared_run(StmtKind kind) {
  return kind == StmtKind::pairwise || kind == StmtKind::masked_pairwise || kind == StmtKind::fold ||
         kind == StmtKind::argreduce || kind == StmtKind::list || kind == StmtKind::accumulate;
}

namespace {

Items items_over(const Nest& nest, bool in_order) {
  Items items;
  for (items.body = &nest.body; !items.body->empty(); items.body = &items.loops.back()->body) {
    const Stmt& last = items.body->back();
    if (!(in_order ? last.kind == StmtKind::loop : is_parallel_loop(last)) ||
        !std::all_of(items.body->begin(), items.body->end() - 1, [](const Stmt& s) { return is_number(s.kind); }))
      break;
    items.before.insert(items.before.end(), items.body->begin(), items.body->end() - 1);
    items.loops.push_back(&last);
  }
  return items;
}

bool is_same_element(const Stmt& gather, const Stmt& scatter) {
  return gather.dtype == scatter.dtype && gather.address.offset == scatter.address.offset &&
         gather.core_strides == scatter.core_strides &&
         std::equal(gather.args.begin(), gather.args.end(), scatter.args.begin() + 1, scatter.args.end());
}

}  // namespace

Items items_of(const Nest& nest) { return items_over(nest, nest.mapping == Mapping::ordered); }

bool has_ordered_items(const Program& program, const Nest& nest) {
  const Items items = items_over(nest, true);
  if (items.loops.empty() || items.body->empty() || items.body->back().kind != StmtKind::scatter) return false;
  const Stmt& scatter = items.body->back();
  auto is_independent = [&](const Stmt& stmt) {
    if (stmt.address.buffer == scatter.address.buffer) return stmt.kind == StmtKind::gather && is_same_element(stmt, scatter);
    const bool is_elsewhere =
        stmt.address.buffer < 0 || program.memory_of(stmt.address.buffer) != program.memory_of(scatter.address.buffer);
    return is_elsewhere && (is_number(stmt.kind) || stmt.kind == StmtKind::gather);
  };
  return std::all_of(items.before.begin(), items.before.end(), is_independent) &&
         std::all_of(items.body->begin(), items.body->end() - 1, is_independent);
}

bool updates_elements(const Items& items) {
  return std::any_of(items.body->begin(), items.body->end() - 1,
                     [&](const Stmt& stmt) { return stmt.address.buffer == items.body->back().address.buffer; });
}

}  // namespace accel
