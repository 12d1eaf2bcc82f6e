#include "schedule/program/loop_summary.h"

#include <algorithm>

namespace accel {
namespace {

// The operation's name; empty for statements that only move elements or count.
std::string operation_name(const Program& program, const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::compute:
      return stmt.op == Op::copy ? "" : op_info(stmt.op).name;
    case StmtKind::argreduce:
      return op_info(stmt.op).name;
    case StmtKind::fold:
      return std::string(op_info(stmt.op).name) + ".reduce";
    case StmtKind::accumulate:
      return std::string(op_info(stmt.op).name) + ".accumulate";
    case StmtKind::pairwise:
    case StmtKind::masked_pairwise:
      return "sum";
    case StmtKind::call:
    case StmtKind::gufunc:
      return op_info(program.imports[static_cast<size_t>(stmt.import)].op).name;
    case StmtKind::gather:
    case StmtKind::scatter:
      return "index";
    case StmtKind::list:
      return "nonzero";
    default:
      return "";
  }
}

void add(const Program& program, const Body& body, LoopSummary& out) {
  for (const Stmt& stmt : body) {
    add(program, stmt.body, out);
    out.is_parallel |= stmt.divide_work || (stmt.kind == StmtKind::loop && stmt.loop_kind == LoopKind::parallel);
    if (stmt.where.source >= 0) out.lines.emplace(stmt.where.source, stmt.where.line);
    std::string name = operation_name(program, stmt);
    bool is_new = std::find(out.operations.begin(), out.operations.end(), name) == out.operations.end();
    if (!name.empty() && is_new) out.operations.push_back(std::move(name));
  }
}

}  // namespace

std::vector<LoopSummary> summarise_loops(const Program& program) {
  std::vector<LoopSummary> all;
  for (const Nest& nest : program.nests) {
    LoopSummary made;
    add(program, nest.body, made);
    if (made.operations.empty()) made.operations.push_back("copy");
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace accel
