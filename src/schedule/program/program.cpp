#include "schedule/program/program.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace accel {

namespace {

constexpr int all_events = event_divide | event_overflow | event_underflow | event_invalid;

// Floating-point events that NumPy may have where a statement itself computes.
int numpy_events(const Program& program, const Stmt& stmt) {
  auto dtype = [&](size_t k) { return program.temps[static_cast<size_t>(stmt.args[k])]; };
  switch (stmt.kind) {
    case StmtKind::compute:
      if (stmt.quiet) return 0;
      return stmt.op == Op::astype ? cast_events(dtype(0), stmt.dtype) : op_events(stmt.op, dtype(0));
    case StmtKind::fold:
      return op_events(stmt.op, dtype(0));
    case StmtKind::pairwise:
      // A part of a divided sum has no destination, and no cast.
      return op_events(Op::add, dtype(0)) |
             (stmt.dst < 0 ? 0 : cast_events(dtype(0), program.temps[static_cast<size_t>(stmt.dst)]));
    case StmtKind::masked_pairwise:
      return op_events(Op::add, dtype(0)) | cast_events(dtype(0), stmt.dtype);
    case StmtKind::gufunc: {
      const LoopImport& import = program.imports[static_cast<size_t>(stmt.import)];
      return all_events | op_events(import.op, import.dtypes[0]);
    }
    case StmtKind::call:
      return all_events;
    default:
      return 0;
  }
}

void collect_temps(const Body& body, std::set<TempId>& read, std::set<TempId>& computed) {
  for (const Stmt& stmt : body) {
    for (TempId arg : stmt.args) read.insert(arg);
    if (stmt.kind == StmtKind::assign)
      read.insert(stmt.dst);
    else if (stmt.dst >= 0)
      computed.insert(stmt.dst);
    collect_temps(stmt.body, read, computed);
  }
}

}  // namespace

std::vector<TempId> temps_from_outside(const Body& body) {
  std::set<TempId> read, computed;
  collect_temps(body, read, computed);
  std::vector<TempId> out;
  std::set_difference(read.begin(), read.end(), computed.begin(), computed.end(), std::back_inserter(out));
  return out;
}

int Program::own_events(const Stmt& stmt) const { return events_on(target, numpy_events(*this, stmt)); }

}  // namespace accel
