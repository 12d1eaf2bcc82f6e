#include "schedule/blocks/block_code.h"

#include <map>

namespace accel {

void append_scalar(Stmt stmt, std::vector<BlockStep>& steps) {
  if (steps.empty() || steps.back().kind != StepKind::scalars) steps.push_back({StepKind::scalars, {}, -1, -1});
  steps.back().body.push_back(std::move(stmt));
}

Dim BlockCode::bound(TempId temp, std::vector<BlockStep>& steps) {
  int symbol = graph_.add_symbol("", 1);
  program_.bound_symbols.push_back(symbol);
  bind(graph_.dims.symbol(symbol), temp, steps);
  return graph_.dims.symbol(symbol);
}

void BlockCode::bind(Dim symbol, TempId temp, std::vector<BlockStep>& steps) {
  Stmt stmt;
  stmt.kind = StmtKind::bind;
  stmt.dim = symbol;
  stmt.args = {temp};
  append_scalar(std::move(stmt), steps);
}

TempId BlockCode::number(Dim value, std::vector<BlockStep>& steps) {
  Stmt stmt;
  stmt.kind = StmtKind::index;
  stmt.dtype = DType::int64;
  stmt.dst = program_.add_temp(DType::int64);
  stmt.dim = value;
  const TempId temp = stmt.dst;
  append_scalar(std::move(stmt), steps);
  return temp;
}

void BlockCode::assign(TempId variable, TempId value, std::vector<BlockStep>& steps) {
  Stmt stmt;
  stmt.kind = StmtKind::assign;
  stmt.dtype = program_.temps[static_cast<size_t>(variable)];
  stmt.dst = variable;
  stmt.args = {value};
  append_scalar(std::move(stmt), steps);
}

TempId BlockCode::scalar_or_leaf(ValueId v, std::vector<BlockStep>& steps) {
  bool leaf = !graph_.is_input(v) && temp_of(v) < 0;
  if (!leaf) return scalar(v, steps);
  Stmt stmt;
  const Node& node = graph_.producer(v);
  stmt.kind = node.op == Op::constant ? StmtKind::constant : StmtKind::index;
  stmt.dtype = graph_.type(v).dtype;
  stmt.dst = program_.add_temp(stmt.dtype);
  if (node.op == Op::constant)
    stmt.literal = node.attrs.literal;
  else
    stmt.dim = node.attrs.dims[0];
  TempId temp = stmt.dst;
  append_scalar(std::move(stmt), steps);
  return temp;
}

TempId BlockCode::scalar(ValueId v, std::vector<BlockStep>& steps) {
  if (temp_of(v) >= 0) return temp_of(v);
  Stmt stmt;
  stmt.dtype = graph_.type(v).dtype;
  stmt.dst = program_.add_temp(stmt.dtype);
  if (buffer_of(v) >= 0) {
    stmt.kind = StmtKind::load;
    stmt.address = {buffer_of(v), graph_.dims.constant(0)};
  } else {
    stmt.kind = StmtKind::input;
    stmt.slot = graph_.inputs[static_cast<size_t>(graph_.input_index(v))].slot;
  }
  TempId temp = stmt.dst;
  append_scalar(std::move(stmt), steps);
  return temp;
}

Edge BlockCode::edge(const Terminator& t, int k, std::vector<BlockStep>& steps) {
  Edge out;
  out.target = t.targets[k];
  const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(t.targets[k])].params;
  std::map<BufferId, BufferId> now;  // after the swaps so far: the buffer that now has the memory of each buffer
  auto where = [&](BufferId id) { return now.contains(id) ? now[id] : id; };
  for (size_t i = 0; i < params.size(); ++i) {
    ValueId v = t.target_arguments[k][i];
    if (!in_memory(params[i])) {
      TempId from = scalar(v, steps);
      if (from != temp_of(params[i])) out.scalars.emplace_back(temp_of(params[i]), from);
      continue;
    }
    BufferId from = where(buffer_of(v)), to = buffer_of(params[i]);
    if (from == to) continue;
    out.swaps.emplace_back(to, from);
    for (const BufferId id : {buffer_of(v), to}) now.try_emplace(id, id);
    for (auto& [id, place] : now) place = place == to ? from : place == from ? to : place;
  }
  return out;
}

}  // namespace accel
