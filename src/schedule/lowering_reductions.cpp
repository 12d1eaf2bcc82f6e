// Reductions, in NumPy's order of operations.

#include <algorithm>

#include "schedule/coalesce.h"
#include "schedule/lowering.h"
#include "schedule/lowering_scopes.h"

namespace accel {

namespace {

bool is_reduced(const Node& node, int axis) {
  return std::find(node.attrs.axes.begin(), node.attrs.axes.end(), axis) != node.attrs.axes.end();
}

// Whether combining in any order gives the same bits.
bool any_order(Op op, DType dtype) {
  char kind = dtype_kind(dtype);
  if (op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin) return kind != 'c';
  return kind == 'b' || kind == 'i' || kind == 'u';
}

// Whether the first element may be combined twice.
bool idempotent(Op op) {
  return op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin || op == Op::logical_and ||
         op == Op::logical_or || op == Op::bitwise_and || op == Op::bitwise_or;
}

std::optional<Literal> identity_of(Op op, DType dtype) {
  std::string_view text = op_info(op).identity;
  if (text.empty()) return std::nullopt;
  char kind = dtype_kind(dtype);
  bool inexact = kind == 'f' || kind == 'c';
  if (inexact && text == "-0.0") return kind == 'c' ? Literal::of_complex(dtype, {-0.0, -0.0}) : Literal::of_double(dtype, -0.0);
  int64_t value = text == "-0.0" || text == "0" || text == "false" ? 0 : text == "-1" ? -1 : 1;
  if (inexact) return Literal::of_double(dtype, static_cast<double>(value));
  return Literal::of_int(dtype, value);
}

}  // namespace

Index Lowering::operand_index(const Node& node, const Index& index, Dim reduced_value) const {
  Index from;
  size_t next = 0;
  for (int k = 0; k < graph_.type(node.operands[0]).rank(); ++k) from.push_back(is_reduced(node, k) ? reduced_value : index[next++]);
  return from;
}

TempId Lowering::start_of(ValueId v, const Node& node, const Index& operand_index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  if (node.operands.size() > 1) return cast(value_at(node.operands[1], {}), dtype, id);
  if (std::optional<Literal> identity = identity_of(node.attrs.ufunc, dtype)) return literal(*identity);
  if (!idempotent(node.attrs.ufunc))
    errors_.push_back(fail(Reason::unsupported_call, std::string("reduction by ") + op_info(node.attrs.ufunc).name));
  return cast(value_at(node.operands[0], operand_index), dtype, id);
}

TempId Lowering::reduction_at(ValueId v, const Node& node, const Index& index) {
  if (node.op != Op::reduce) return argreduce_at(v, node, index);
  if (!reduces_by_columns(graph_, node) || !in_tile(index)) return plan_at(v, node, index);
  Dim variable = scopes_.back()->header.var, extent = scopes_.back()->header.extent;
  Address tile;
  {
    Cut cut(*this, static_cast<int>(scopes_.size()) - 2);
    tile = column_tile(v, node, index, variable, extent);
  }
  return load(tile, graph_.type(v).dtype);
}

Dim Lowering::open_reducing(StmtKind kind, Dim extent) {
  Dim variable = open_loop(LoopKind::serial, extent, false);
  scopes_.back()->header.kind = kind;
  return variable;
}

TempId Lowering::close_reducing(Stmt details, DType dtype) {
  std::unique_ptr<Scope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  details.kind = scope->header.kind;
  details.var = scope->header.var;
  details.extent = scope->header.extent;
  details.body = std::move(scope->body);
  details.divide_work = scopes_.size() == 1;
  return emit(std::move(details), dtype);
}

Dim Lowering::run_extent(const Node& node, const std::vector<int>& axes) {
  Dim extent = dims_.constant(1);
  for (int axis : axes) extent = dims_.mul(extent, graph_.type(node.operands[0]).shape[axis]);
  return extent;
}

TempId Lowering::plan_at(ValueId v, const Node& node, const Index& index) {
  ReductionPlan plan = reduction_plan_of(dims_, graph_, node);
  DType dtype = graph_.type(v).dtype;
  if (any_order(node.attrs.ufunc, dtype)) return fold_at(v, node, index);
  std::vector<int> all = plan.outer_axes;
  if (!plan.pairwise) all.insert(all.end(), plan.run_axes.begin(), plan.run_axes.end());
  if (!plan.pairwise) return sequential_at(v, node, index, all);

  NodeId id = graph_.values[v].producer;
  Index from = operand_index(node, index, dims_.constant(0));
  TempId start = start_of(v, node, from);
  if (plan.outer_axes.empty()) return compute(node.attrs.ufunc, {start, run_at(v, node, from, plan)}, dtype, id);
  Stmt declare;
  declare.kind = StmtKind::declare;
  declare.args = {start};
  TempId total = emit(std::move(declare), dtype);
  for (int axis : plan.outer_axes) from[axis] = open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  Stmt assign;
  assign.kind = StmtKind::assign;
  assign.dst = total;
  assign.dtype = dtype;
  assign.args = {compute(node.attrs.ufunc, {total, run_at(v, node, from, plan)}, dtype, id)};
  append(std::move(assign));
  for (size_t k = 0; k < plan.outer_axes.size(); ++k) close_loop();
  return total;
}

TempId Lowering::run_at(ValueId v, const Node& node, Index index, const ReductionPlan& plan) {
  DType dtype = graph_.type(v).dtype;
  Dim variable = open_reducing(StmtKind::pairwise, run_extent(node, plan.run_axes));
  index[plan.run_axes.back()] = variable;  // the slower axes of the run coalesce with the last: their index stays 0
  Stmt stmt;
  stmt.op = node.attrs.ufunc;
  stmt.chunk = plan.buffer_chunk;
  stmt.node = graph_.values[v].producer;
  stmt.args = {cast(value_at(node.operands[0], index), dtype, stmt.node)};
  return close_reducing(std::move(stmt), dtype);
}

TempId Lowering::fold_at(ValueId v, const Node& node, const Index& index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  const Type& operand = graph_.type(node.operands[0]);
  std::vector<int> outer, run;
  for (uint8_t axis : operand.axis_order())
    if (is_reduced(node, axis)) run.push_back(axis);
  if (!coalesces(dims_, graph_, placement_.places, node.operands[0], run)) {
    outer.assign(run.begin(), run.end() - 1);
    run.erase(run.begin(), run.end() - 1);
  }
  Index from = operand_index(node, index, dims_.constant(0));
  TempId start = start_of(v, node, from);
  TempId total = start;
  if (!outer.empty()) {
    Stmt declare;
    declare.kind = StmtKind::declare;
    declare.args = {start};
    total = emit(std::move(declare), dtype);
    for (int axis : outer) from[axis] = open_loop(LoopKind::serial, operand.shape[axis], false);
  }
  Dim variable = open_reducing(StmtKind::fold, run_extent(node, run));
  from[run.back()] = variable;
  Stmt fold;
  fold.op = node.attrs.ufunc;
  fold.node = id;
  fold.args = {cast(value_at(node.operands[0], from), dtype, id), total};
  TempId folded = close_reducing(std::move(fold), dtype);
  if (outer.empty()) return folded;
  Stmt assign;
  assign.kind = StmtKind::assign;
  assign.dst = total;
  assign.dtype = dtype;
  assign.args = {folded};
  append(std::move(assign));
  for (size_t k = 0; k < outer.size(); ++k) close_loop();
  return total;
}

TempId Lowering::sequential_at(ValueId v, const Node& node, const Index& index, const std::vector<int>& axes) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  Index from = operand_index(node, index, dims_.constant(0));
  Stmt declare;
  declare.kind = StmtKind::declare;
  declare.args = {start_of(v, node, from)};
  TempId total = emit(std::move(declare), dtype);
  for (int axis : axes) from[axis] = open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  Stmt assign;
  assign.kind = StmtKind::assign;
  assign.dst = total;
  assign.dtype = dtype;
  assign.args = {compute(node.attrs.ufunc, {total, cast(value_at(node.operands[0], from), dtype, id)}, dtype, id)};
  append(std::move(assign));
  for (size_t k = 0; k < axes.size(); ++k) close_loop();
  return total;
}

TempId Lowering::argreduce_at(ValueId v, const Node& node, const Index& index) {
  int axis = node.attrs.axes[0];
  Index from = operand_index(node, index, dims_.constant(0));
  from[axis] = open_reducing(StmtKind::argreduce, graph_.type(node.operands[0]).shape[axis]);
  Stmt stmt;
  stmt.op = node.op;
  stmt.node = graph_.values[v].producer;
  stmt.args = {value_at(node.operands[0], from)};
  return close_reducing(std::move(stmt), DType::int64);
}

}  // namespace accel
