#include "codegen/emit/events/pieces.h"

#include <algorithm>

namespace accel {

namespace {

// Whether the value can be computed again wherever it is needed.
bool is_repeatable(const Stmt& stmt) {
  return stmt.kind == StmtKind::constant || stmt.kind == StmtKind::index || stmt.kind == StmtKind::input;
}

}  // namespace

bool is_part(const Stmt& stmt) {
  return stmt.kind == StmtKind::compute && (stmt.op == Op::compose || stmt.op == Op::real || stmt.op == Op::imag);
}

Pieces::Pieces(const Program& program, const Body& body) : program_(program) {
  for (const Stmt& stmt : body)
    if (stmt.dst >= 0) definitions_[stmt.dst] = &stmt;
}

void Pieces::add(const Stmt& stmt, std::map<int, int> sites) {
  if (is_repeatable(stmt)) return;
  bool joins = sites.empty() && !pieces_.empty() && pieces_.back().sites.empty();
  if (!joins) pieces_.push_back({{}, std::move(sites)});
  pieces_.back().statements.push_back(&stmt);
  if (stmt.dst >= 0) home_[stmt.dst] = pieces_.size() - 1;
  if (is_store(stmt.kind)) stored_.try_emplace(program_.memory_of(stmt.address.buffer), pieces_.size() - 1);
}

Pieces::Needs Pieces::needs_of(size_t piece) const {
  Needs out;
  std::set<TempId> seen;
  for (const Stmt* stmt : pieces_[piece].statements) need_all(*stmt, piece, seen, out);
  return out;
}

// Whether a piece can compute the value again: no earlier piece has stored over its source, and it costs nothing.
bool Pieces::comes_again(const Stmt& stmt, size_t piece) const {
  if (is_part(stmt))
    return std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) {
      auto found = definitions_.find(arg);
      return found == definitions_.end() || comes_again(*found->second, piece);
    });
  if (stmt.kind != StmtKind::load) return is_repeatable(stmt);
  auto stored = stored_.find(program_.memory_of(stmt.address.buffer));
  return stored == stored_.end() || stored->second >= piece;
}

void Pieces::need_all(const Stmt& stmt, size_t piece, std::set<TempId>& seen, Needs& out) const {
  for (TempId arg : stmt.args) need(arg, piece, seen, out);
  for (const Stmt& inner : stmt.body) need_all(inner, piece, seen, out);
}

void Pieces::need(TempId temp, size_t piece, std::set<TempId>& seen, Needs& out) const {
  auto found = definitions_.find(temp);
  if (found == definitions_.end() || !seen.insert(temp).second) return;
  auto home = home_.find(temp);
  if (home != home_.end() && home->second == piece) return;
  if (!comes_again(*found->second, piece)) {
    out.waiting.insert(temp);
    return;
  }
  for (TempId arg : found->second->args) need(arg, piece, seen, out);
  out.again.push_back(found->second);
}

}  // namespace accel
