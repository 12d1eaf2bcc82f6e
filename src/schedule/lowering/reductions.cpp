// Reductions, in NumPy's order of operations.

#include <algorithm>
#include <limits>
#include <numeric>

#include "schedule/analysis/coalesce.h"
#include "schedule/lowering/lowering.h"
#include "schedule/lowering/scopes.h"

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
  if (text == "-inf") return Literal::of_double(dtype, -std::numeric_limits<double>::infinity());
  int64_t value = text == "0" || text == "false" ? 0 : text == "-1" ? -1 : 1;
  if (kind == 'f' || kind == 'c') return Literal::of_double(dtype, static_cast<double>(value));
  return Literal::of_int(dtype, value);
}

}  // namespace

Index Lowering::operand_index(const Node& node, const Index& index, Dim reduced_value) const {
  Index from;
  size_t next = 0;
  for (int k = 0; k < graph_.type(node.operands[0]).rank(); ++k)
    from.push_back(is_reduced(node, k) ? reduced_value : index[next++]);
  return from;
}

TempId Lowering::start_of(ValueId v, const Node& node, const Index& operand_index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  if (ValueId initial = initial_of(graph_, node); initial != no_value) return cast(value_at(initial, {}), dtype, id);
  if (std::optional<Literal> identity = identity_of(node.attrs.ufunc, dtype)) return literal(*identity);
  if (!idempotent(node.attrs.ufunc))
    errors_.push_back(fail(Reason::unsupported_call, std::string("reduction by ") + op_info(node.attrs.ufunc).name));
  return cast(value_at(node.operands[0], operand_index), dtype, id);
}

TempId Lowering::reduction_at(ValueId v, const Node& node, const Index& index) {
  if (node.op != Op::reduce) return argreduce_at(v, node, index);
  if (!plan_of(v).run_axes.empty() || !in_tile(index)) return plan_at(v, node, index);
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
  details.divide_work = scopes_.size() == 1 && details.kind != StmtKind::list;
  return emit(std::move(details), dtype);
}

Dim Lowering::run_extent(const Node& node, const std::vector<int>& axes) {
  Dim extent = dims_.constant(1);
  for (int axis : axes) extent = dims_.mul(extent, graph_.type(node.operands[0]).shape[axis]);
  return extent;
}

TempId Lowering::declare(TempId start, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::declare;
  stmt.args = {start};
  return emit(std::move(stmt), dtype);
}

void Lowering::assign(TempId variable, TempId value, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::assign;
  stmt.dst = variable;
  stmt.dtype = dtype;
  stmt.args = {value};
  append(std::move(stmt));
}

TempId Lowering::plan_at(ValueId v, const Node& node, const Index& index) {
  const ReductionPlan& plan = plan_of(v);
  DType dtype = graph_.type(v).dtype;
  if (any_order(node.attrs.ufunc, dtype)) return fold_at(v, node, index);
  bool rounds_runs = dtype == DType::float16 && node.attrs.ufunc == Op::multiply;
  if ((plan.pairwise || rounds_runs) && !plan.run_axes.empty()) return runs_at(v, node, index);
  std::vector<int> axes = plan.outer_axes;
  axes.insert(axes.end(), plan.run_axes.begin(), plan.run_axes.end());
  return sequential_at(v, node, index, axes);
}

// total = op(total, piece); float16 totals meet float32 pieces before they are rounded.
TempId Lowering::add_to(ValueId v, TempId total, TempId piece) {
  NodeId id = graph_.values[v].producer;
  DType dtype = graph_.type(v).dtype, wide = program_.temps[piece];
  return cast(compute(graph_.nodes[id].attrs.ufunc, {cast(total, wide, id), piece}, wide, id), dtype, id);
}

TempId Lowering::runs_at(ValueId v, const Node& node, const Index& index) {
  const ReductionPlan& plan = plan_of(v);
  DType dtype = graph_.type(v).dtype;
  Index from = operand_index(node, index, dims_.constant(0));
  TempId start = start_of(v, node, from);
  bool one_tree = plan.block.id < 0 && plan.chunk.id < 0;
  bool even_chunks = plan.block.id < 0 && plan.buffer_chunk > 0 && node.operands.size() == 1 && dtype != DType::float16;
  if (plan.pairwise && plan.outer_axes.empty() && (one_tree || even_chunks) && mask_of(graph_, node) == no_value)
    return add_to(v, start, tree_at(v, node, from, dims_.constant(0), run_extent(node, plan.run_axes), plan.buffer_chunk));
  TempId total = declare(start, dtype);
  for (int axis : plan.outer_axes) from[axis] = open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  assign(total, pieces_at(v, node, from, total), dtype);
  for (size_t k = 0; k < plan.outer_axes.size(); ++k) close_loop();
  return total;
}

// Combines the pieces of one run with `total`, one after the other; the new total.
TempId Lowering::pieces_at(ValueId v, const Node& node, const Index& index, TempId total) {
  const ReductionPlan& plan = plan_of(v);
  DType dtype = graph_.type(v).dtype;
  Dim extent = run_extent(node, plan.run_axes);
  if (plan.block.id < 0 && plan.chunk.id < 0) return piece_at(v, node, index, dims_.constant(0), extent, total);
  auto pieces = [&](Dim length, Dim piece) {
    return dims_.floordiv(dims_.add(length, dims_.sub(piece, dims_.constant(1))), piece);
  };
  Dim block = plan.block.id >= 0 ? plan.block : extent;
  Dim chunk = plan.chunk.id >= 0 ? plan.chunk : block;
  TempId sum = declare(total, dtype);
  bool blocks = plan.block.id >= 0;
  Dim block_begin = blocks ? dims_.mul(open_loop(LoopKind::serial, pieces(extent, block), false), block) : dims_.constant(0);
  Dim block_extent = blocks ? dims_.min(block, dims_.sub(extent, block_begin)) : extent;
  Dim offset = dims_.mul(open_loop(LoopKind::serial, pieces(block_extent, chunk), false), chunk);
  Dim piece_extent = dims_.min(chunk, dims_.sub(block_extent, offset));
  assign(sum, piece_at(v, node, index, dims_.add(block_begin, offset), piece_extent, sum), dtype);
  close_loop();
  if (blocks) close_loop();
  return sum;
}

// Index of element `position` of a run: by its last axis when the axes coalesce in memory, else digit by digit.
Index Lowering::run_index(ValueId operand, Index index, const std::vector<int>& axes, Dim position) {
  if (axes.empty()) return index;
  bool row = !graph_.is_input(operand) && placement_.places[operand] == Place::row;
  if (axes.size() == 1 || row || coalesces(dims_, graph_, placement_.places, operand, axes)) {
    index[axes.back()] = position;  // the slower axes stay at 0
    return index;
  }
  Dim inner = dims_.constant(1);
  for (size_t k = axes.size(); k-- > 0;) {
    Dim extent = graph_.type(operand).shape[axes[k]];
    Dim quotient = dims_.floordiv(position, inner);
    index[axes[k]] = k == 0 ? quotient : dims_.mod(quotient, extent);
    inner = dims_.mul(inner, extent);
  }
  return index;
}

size_t Lowering::count_in_row(ValueId v) {
  const size_t rank = graph_.type(v).shape.size();
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  while (axes.size() > 1 && !coalesces(dims_, graph_, placement_.places, v, axes)) axes.erase(axes.begin());
  return axes.size();
}

// `total` combined with `extent` elements of a run from `begin` on.
TempId Lowering::piece_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total) {
  if (!plan_of(v).pairwise) return half_product_at(v, node, index, begin, extent, total);
  if (mask_of(graph_, node) != no_value) return masked_at(v, node, index, begin, extent, total);
  return add_to(v, total, tree_at(v, node, index, begin, extent, 0));
}

TempId Lowering::masked_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total) {
  DType dtype = graph_.type(v).dtype, wide = dtype == DType::float16 ? DType::float32 : dtype;
  ValueId mask = mask_of(graph_, node);
  Dim position = dims_.add(begin, open_reducing(StmtKind::masked_pairwise, extent));
  const std::vector<int>& axes = plan_of(v).run_axes;
  Stmt stmt;
  stmt.node = graph_.values[v].producer;
  TempId element = cast(value_at(node.operands[0], run_index(node.operands[0], index, axes, position)), dtype, stmt.node);
  stmt.args = {cast(element, wide, stmt.node), total, value_at(mask, run_index(mask, index, axes, position))};
  return close_reducing(std::move(stmt), dtype);
}

// The pairwise sum of `extent` elements of a run from `begin` on.
TempId Lowering::tree_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, int64_t chunk) {
  DType dtype = graph_.type(v).dtype == DType::float16 ? DType::float32 : graph_.type(v).dtype;
  Dim position = dims_.add(begin, open_reducing(StmtKind::pairwise, extent));
  Index at = run_index(node.operands[0], index, plan_of(v).run_axes, position);
  Stmt stmt;
  stmt.op = node.attrs.ufunc;
  stmt.chunk = chunk;
  stmt.node = graph_.values[v].producer;
  stmt.args = {cast(cast(value_at(node.operands[0], at), graph_.type(v).dtype, stmt.node), dtype, stmt.node)};
  return close_reducing(std::move(stmt), dtype);
}

// `total` combined with the operand's element at `index`; under a mask, with what has no events where it does not count.
TempId Lowering::combined_at(ValueId v, const Node& node, const Index& index, TempId total) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  Op op = node.attrs.ufunc;
  TempId element = cast(value_at(node.operands[0], index), dtype, id);
  ValueId mask = mask_of(graph_, node);
  if (mask == no_value) return compute(op, {total, element}, dtype, id);
  TempId counts = value_at(mask, index);
  auto choose = [&](TempId yes, TempId no) { return compute(Op::where, {counts, yes, no}, dtype, id); };
  if (dtype_kind(dtype) == 'c' && op != Op::add) {  // times 1 is no identity of complex numbers
    TempId one = literal(Literal::of_complex(dtype, 1.0));
    return choose(compute(op, {choose(total, one), choose(element, one)}, dtype, id), total);
  }
  Literal neutral = dtype_kind(dtype) == 'c' ? Literal::of_complex(dtype, std::complex(-0.0, -0.0))
                                             : Literal::of_double(dtype, op == Op::add ? -0.0 : 1.0);
  return compute(op, {total, choose(element, literal(neutral))}, dtype, id);
}

// NumPy multiplies float16 numbers in float32 and rounds once per piece; under a mask, behind each sequence of elements that
// count: rounding again where none counts changes nothing.
TempId Lowering::half_product_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total) {
  NodeId id = graph_.values[v].producer;
  ValueId mask = mask_of(graph_, node);
  const std::vector<int>& axes = plan_of(v).run_axes;
  TempId run = declare(cast(total, DType::float32, id), DType::float32);
  Dim position = dims_.add(begin, open_loop(LoopKind::serial, extent, false));
  TempId element = cast(value_at(node.operands[0], run_index(node.operands[0], index, axes, position)), DType::float16, id);
  auto product = [&](TempId factor) { return compute(node.attrs.ufunc, {run, factor}, DType::float32, id); };
  if (mask == no_value) {
    assign(run, product(cast(element, DType::float32, id)), DType::float32);
  } else {
    TempId counts = value_at(mask, run_index(mask, index, axes, position)),
           one = literal(Literal::of_double(DType::float32, 1));
    TempId factor = compute(Op::where, {counts, cast(element, DType::float32, id), one}, DType::float32, id);
    TempId ended = cast(compute(Op::where, {counts, one, run}, DType::float32, id), DType::float16, id);
    TempId rounded = cast(ended, DType::float32, id);
    assign(run, compute(Op::where, {counts, product(factor), rounded}, DType::float32, id), DType::float32);
  }
  close_loop();
  return cast(run, DType::float16, id);
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
    total = declare(start, dtype);
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
  assign(total, folded, dtype);
  for (size_t k = 0; k < outer.size(); ++k) close_loop();
  return total;
}

TempId Lowering::sequential_at(ValueId v, const Node& node, const Index& index, const std::vector<int>& axes) {
  DType dtype = graph_.type(v).dtype;
  Index from = operand_index(node, index, dims_.constant(0));
  TempId total = declare(start_of(v, node, from), dtype);
  for (int axis : axes) from[axis] = open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  assign(total, combined_at(v, node, from, total), dtype);
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
