#include "schedule/lowering/statements.h"

#include <algorithm>

namespace accel {

bool ScopeKeyLess::operator()(const ScopeKey& a, const ScopeKey& b) const {
  if (a.first != b.first) return a.first < b.first;
  return std::lexicographical_compare(a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
                                      [](Dim x, Dim y) { return x.id < y.id; });
}

void StatementLowering::begin_nest() {
  scopes_.clear();
  scopes_.push_back(std::make_unique<Scope>());
}

Body StatementLowering::end_nest() {
  Body body = std::move(scopes_.front()->body);
  scopes_.clear();
  return body;
}

Dim StatementLowering::open_loop(LoopKind kind, Dim extent, bool holds_tiles) {
  Dim variable = dims_.new_variable();
  open_loop_over(variable, kind, extent, holds_tiles);
  return variable;
}

void StatementLowering::open_loop_over(Dim variable, LoopKind kind, Dim extent, bool holds_tiles) {
  auto scope = std::make_unique<Scope>();
  scope->header.kind = StmtKind::loop;
  scope->header.loop_kind = kind;
  scope->header.var = variable;
  scope->header.extent = extent;
  scope->holds_tiles = holds_tiles;
  scopes_.push_back(std::move(scope));
}

void StatementLowering::close_loop() {
  std::unique_ptr<Scope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  scope->header.body = std::move(scope->body);
  append(std::move(scope->header));
}

void StatementLowering::close_loop_while(TempId more) {
  scopes_.back()->header.kind = StmtKind::repeat;
  scopes_.back()->header.args = {more};
  close_loop();
}

int StatementLowering::scope_of(const Index& index) const {
  int deepest = 0;
  // An index along an axis without elements is normalised to 0 and names no variable, so the scope of the empty loop is taken.
  for (int k = static_cast<int>(scopes_.size()); k-- > 1 && deepest == 0;)
    if (dims_.is_constant(scopes_[k]->header.extent, 0)) deepest = k;
  for (Dim d : index)
    for (int symbol : dims_.symbols(d))
      for (int k = static_cast<int>(scopes_.size()); k-- > deepest + 1;)
        if (dims_.as_symbol(scopes_[k]->header.var) == symbol) deepest = k;
  return deepest;
}

bool StatementLowering::in_tile(const Index& index) const {
  int level = scope_of(index);
  if (level < 1) return false;
  const Scope& scope = *scopes_[level];
  return scope.header.kind == StmtKind::loop && scope.header.loop_kind == LoopKind::simd && scopes_[level - 1]->holds_tiles;
}

TempId StatementLowering::emit(Stmt stmt, DType dtype) {
  stmt.dst = program_.add_temp(dtype);
  stmt.dtype = dtype;
  append(std::move(stmt));
  return static_cast<TempId>(program_.temps.size()) - 1;
}

TempId StatementLowering::load(const Address& address, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::load;
  stmt.address = address;
  return emit(std::move(stmt), dtype);
}

void StatementLowering::store(const Address& address, TempId value, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::store;
  stmt.address = address;
  stmt.args = {value};
  stmt.dtype = dtype;
  append(std::move(stmt));
}

TempId StatementLowering::literal(Literal value) {
  Stmt stmt;
  stmt.kind = StmtKind::constant;
  stmt.literal = value;
  return emit(std::move(stmt), value.dtype);
}

TempId StatementLowering::declare(TempId start, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::declare;
  stmt.args = {start};
  return emit(std::move(stmt), dtype);
}

void StatementLowering::assign(TempId variable, TempId value, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::assign;
  stmt.dst = variable;
  stmt.dtype = dtype;
  stmt.args = {value};
  append(std::move(stmt));
}

BufferId StatementLowering::scratch(DType dtype, Dim elements, std::string name) {
  return program_.add_buffer({BufferKind::scratch, dtype, elements, -1, std::move(name)});
}

BufferId StatementLowering::temp(DType dtype, Dim elements, std::string name) {
  return program_.add_buffer({BufferKind::temp, dtype, elements, -1, std::move(name)});
}

Dim StatementLowering::open_reducing(StmtKind kind, Dim extent) {
  Dim variable = open_loop(LoopKind::serial, extent, false);
  scopes_.back()->header.kind = kind;
  return variable;
}

TempId StatementLowering::close_reducing(Stmt details, DType dtype) {
  std::unique_ptr<Scope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  details.kind = scope->header.kind;
  details.var = scope->header.var;
  details.extent = scope->header.extent;
  details.body = std::move(scope->body);
  details.divide_work = scopes_.size() == 1 && !is_store(details.kind);
  return emit(std::move(details), dtype);
}

}  // namespace accel
