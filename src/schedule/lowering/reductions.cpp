#include "schedule/lowering/reductions.h"

#include <algorithm>
#include <limits>

#include "schedule/analysis/coalesce.h"
#include "schedule/lowering/lowering.h"
#include "schedule/lowering/scopes.h"
#include "schedule/lowering/tiles.h"

namespace accel {

namespace {

bool is_reduced(const Node& node, int axis) {
  return std::find(node.attrs.axes.begin(), node.attrs.axes.end(), axis) != node.attrs.axes.end();
}

// Whether every order of combination gives the same bits.
bool any_order(Op op, DType dtype) {
  char kind = dtype_kind(dtype);
  if (is_extreme(op)) return kind != 'c';
  return kind == 'b' || kind == 'i' || kind == 'u';
}

// Whether combining an element twice changes nothing, so that the first element can be the start.
bool is_idempotent(Op op) { return has_property(op, OpProperty::extreme | OpProperty::idempotent); }

}  // namespace

Index ReductionLowering::operand_index(const Node& node, const Index& index, Dim reduced_value) const {
  Index from;
  size_t next = 0;
  for (int k = 0; k < graph_.type(node.operands[0]).rank(); ++k)
    from.push_back(is_reduced(node, k) ? reduced_value : index[next++]);
  return from;
}

TempId ReductionLowering::start_of(ValueId v, const Node& node, const Index& operand_index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  if (ValueId initial = initial_of(graph_, node); initial != no_value)
    return lowering_.cast(lowering_.value_at(initial, {}), dtype, id);
  if (std::optional<Literal> identity = identity_of(node.attrs.ufunc, dtype)) return lowering_.literal(*identity);
  if (!is_idempotent(node.attrs.ufunc))
    lowering_.fail_with(fail(Reason::unsupported_call, std::string("reduction by ") + op_info(node.attrs.ufunc).name));
  return lowering_.cast(lowering_.value_at(node.operands[0], operand_index), dtype, id);
}

TempId ReductionLowering::reduction_at(ValueId v, const Node& node, const Index& index) {
  if (node.op != Op::reduce) return argreduce_at(v, node, index);
  if (!lowering_.plan_of(v).run_axes.empty() || !lowering_.in_tile(index)) return plan_at(v, node, index);
  Dim variable = lowering_.innermost().header.var, extent = lowering_.innermost().header.extent;
  Address tile;
  {
    Cut cut(lowering_, lowering_.depth() - 2);
    tile = column_tile(v, node, index, variable, extent);
  }
  return lowering_.load(tile, graph_.type(v).dtype);
}

Dim ReductionLowering::run_extent(const Node& node, const std::vector<int>& axes) {
  Dim extent = dims_.constant(1);
  for (int axis : axes) extent = dims_.mul(extent, graph_.type(node.operands[0]).shape[axis]);
  return extent;
}

TempId ReductionLowering::plan_at(ValueId v, const Node& node, const Index& index) {
  const ReductionPlan& plan = lowering_.plan_of(v);
  DType dtype = graph_.type(v).dtype;
  if (any_order(node.attrs.ufunc, dtype)) return fold_at(v, node, index);
  bool rounds_runs = dtype == DType::float16 && node.attrs.ufunc == Op::multiply;
  if ((plan.pairwise || rounds_runs) && !plan.run_axes.empty()) return runs_at(v, node, index);
  std::vector<int> axes = plan.outer_axes;
  axes.insert(axes.end(), plan.run_axes.begin(), plan.run_axes.end());
  if (graph_.target.is_device() && mask_of(graph_, node) == no_value) return fold_at(v, node, index);
  return sequential_at(v, node, index, axes);
}

// total = op(total, piece). For float16 the pieces are float32, and the result is rounded once.
TempId ReductionLowering::add_to(ValueId v, TempId total, TempId piece) {
  NodeId id = graph_.values[v].producer;
  DType dtype = graph_.type(v).dtype, wide = lowering_.dtype_of(piece);
  return lowering_.cast(lowering_.compute(graph_.nodes[id].attrs.ufunc, {lowering_.cast(total, wide, id), piece}, wide, id),
                        dtype, id);
}

TempId ReductionLowering::runs_at(ValueId v, const Node& node, const Index& index) {
  const ReductionPlan& plan = lowering_.plan_of(v);
  DType dtype = graph_.type(v).dtype;
  Index from = operand_index(node, index, dims_.constant(0));
  TempId start = start_of(v, node, from);
  bool one_tree = plan.block.id < 0 && plan.chunk.id < 0;
  bool even_chunks = plan.block.id < 0 && plan.buffer_chunk > 0 && node.operands.size() == 1 && dtype != DType::float16;
  if (plan.pairwise && plan.outer_axes.empty() && (one_tree || even_chunks) && mask_of(graph_, node) == no_value)
    return add_to(v, start, tree_at(v, node, from, dims_.constant(0), run_extent(node, plan.run_axes), plan.buffer_chunk));
  TempId total = lowering_.declare(start, dtype);
  for (int axis : plan.outer_axes)
    from[axis] = lowering_.open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  lowering_.assign(total, pieces_at(v, node, from, total), dtype);
  for (size_t k = 0; k < plan.outer_axes.size(); ++k) lowering_.close_loop();
  return total;
}

// The total after combining the pieces of one run with `total`, in order.
TempId ReductionLowering::pieces_at(ValueId v, const Node& node, const Index& index, TempId total) {
  const ReductionPlan& plan = lowering_.plan_of(v);
  DType dtype = graph_.type(v).dtype;
  Dim extent = run_extent(node, plan.run_axes);
  if (plan.block.id < 0 && plan.chunk.id < 0) return piece_at(v, node, index, dims_.constant(0), extent, total);
  auto pieces = [&](Dim length, Dim piece) {
    return dims_.floordiv(dims_.add(length, dims_.sub(piece, dims_.constant(1))), piece);
  };
  Dim block = plan.block.id >= 0 ? plan.block : extent;
  Dim chunk = plan.chunk.id >= 0 ? plan.chunk : block;
  TempId sum = lowering_.declare(total, dtype);
  bool blocks = plan.block.id >= 0;
  Dim block_begin =
      blocks ? dims_.mul(lowering_.open_loop(LoopKind::serial, pieces(extent, block), false), block) : dims_.constant(0);
  Dim block_extent = blocks ? dims_.min(block, dims_.sub(extent, block_begin)) : extent;
  Dim offset = dims_.mul(lowering_.open_loop(LoopKind::serial, pieces(block_extent, chunk), false), chunk);
  Dim piece_extent = dims_.min(chunk, dims_.sub(block_extent, offset));
  lowering_.assign(sum, piece_at(v, node, index, dims_.add(block_begin, offset), piece_extent, sum), dtype);
  lowering_.close_loop();
  if (blocks) lowering_.close_loop();
  return sum;
}

// The total after combining `extent` elements of a run from `begin` on with `total`.
TempId ReductionLowering::piece_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total) {
  if (!lowering_.plan_of(v).pairwise) return half_product_at(v, node, index, begin, extent, total);
  if (mask_of(graph_, node) != no_value) return masked_at(v, node, index, begin, extent, total);
  return add_to(v, total, tree_at(v, node, index, begin, extent, 0));
}

TempId ReductionLowering::masked_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, TempId total) {
  DType dtype = graph_.type(v).dtype, wide = dtype == DType::float16 ? DType::float32 : dtype;
  ValueId mask = mask_of(graph_, node);
  Dim position = dims_.add(begin, lowering_.open_reducing(StmtKind::masked_pairwise, extent));
  const std::vector<int>& axes = lowering_.plan_of(v).run_axes;
  Stmt stmt;
  stmt.node = graph_.values[v].producer;
  TempId element = lowering_.cast(
      lowering_.value_at(node.operands[0], lowering_.run_index(node.operands[0], index, axes, position)), dtype, stmt.node);
  stmt.args = {lowering_.cast(element, wide, stmt.node), total,
               lowering_.value_at(mask, lowering_.run_index(mask, index, axes, position))};
  return lowering_.close_reducing(std::move(stmt), dtype);
}

// The pairwise sum of `extent` elements of a run from `begin` on.
TempId ReductionLowering::tree_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent, int64_t chunk) {
  DType dtype = graph_.type(v).dtype == DType::float16 ? DType::float32 : graph_.type(v).dtype;
  Dim position = dims_.add(begin, lowering_.open_reducing(StmtKind::pairwise, extent));
  Index at = lowering_.run_index(node.operands[0], index, lowering_.plan_of(v).run_axes, position);
  Stmt stmt;
  stmt.op = node.attrs.ufunc;
  stmt.chunk = chunk;
  stmt.node = graph_.values[v].producer;
  stmt.args = {lowering_.cast(lowering_.cast(lowering_.value_at(node.operands[0], at), graph_.type(v).dtype, stmt.node), dtype,
                              stmt.node)};
  return lowering_.close_reducing(std::move(stmt), dtype);
}

// The total after combining the operand's element at `index`. Where a mask does not hold, the operation runs on neutral
// operands, which raise no events.
TempId ReductionLowering::combined_at(ValueId v, const Node& node, const Index& index, TempId total) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  Op op = node.attrs.ufunc;
  TempId element = lowering_.cast(lowering_.value_at(node.operands[0], index), dtype, id);
  ValueId mask = mask_of(graph_, node);
  if (mask == no_value) return lowering_.compute(op, {total, element}, dtype, id);
  TempId counts = lowering_.value_at(mask, index);
  auto choose = [&](TempId yes, TempId no) { return lowering_.compute(Op::where, {counts, yes, no}, dtype, id); };
  if (dtype_kind(dtype) == 'c' && op != Op::add) {  // 1 is not neutral for products of complex numbers
    TempId one = lowering_.literal(Literal::of_complex(dtype, 1.0));
    return choose(lowering_.compute(op, {choose(total, one), choose(element, one)}, dtype, id), total);
  }
  Literal neutral = dtype_kind(dtype) == 'c' ? Literal::of_complex(dtype, std::complex(-0.0, -0.0))
                                             : Literal::of_double(dtype, op == Op::add ? -0.0 : 1.0);
  return lowering_.compute(op, {total, choose(element, lowering_.literal(neutral))}, dtype, id);
}

// NumPy multiplies float16 numbers in float32 and rounds once per piece; under a mask, after each sequence of selected
// elements. Rounding again at unselected elements changes nothing.
TempId ReductionLowering::half_product_at(ValueId v, const Node& node, const Index& index, Dim begin, Dim extent,
                                          TempId total) {
  NodeId id = graph_.values[v].producer;
  ValueId mask = mask_of(graph_, node);
  const std::vector<int>& axes = lowering_.plan_of(v).run_axes;
  TempId run = lowering_.declare(lowering_.cast(total, DType::float32, id), DType::float32);
  Dim position = dims_.add(begin, lowering_.open_loop(LoopKind::serial, extent, false));
  TempId element = lowering_.cast(
      lowering_.value_at(node.operands[0], lowering_.run_index(node.operands[0], index, axes, position)), DType::float16, id);
  auto product = [&](TempId factor) { return lowering_.compute(node.attrs.ufunc, {run, factor}, DType::float32, id); };
  if (mask == no_value) {
    lowering_.assign(run, product(lowering_.cast(element, DType::float32, id)), DType::float32);
  } else {
    TempId counts = lowering_.value_at(mask, lowering_.run_index(mask, index, axes, position)),
           one = lowering_.literal(Literal::of_double(DType::float32, 1));
    TempId factor =
        lowering_.compute(Op::where, {counts, lowering_.cast(element, DType::float32, id), one}, DType::float32, id);
    TempId ended = lowering_.cast(lowering_.compute(Op::where, {counts, one, run}, DType::float32, id), DType::float16, id);
    TempId rounded = lowering_.cast(ended, DType::float32, id);
    lowering_.assign(run, lowering_.compute(Op::where, {counts, product(factor), rounded}, DType::float32, id), DType::float32);
  }
  lowering_.close_loop();
  return lowering_.cast(run, DType::float16, id);
}

TempId ReductionLowering::fold_at(ValueId v, const Node& node, const Index& index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  const Type& operand = graph_.type(node.operands[0]);
  std::vector<int> outer, run;
  for (uint8_t axis : operand.axis_order())
    if (is_reduced(node, axis)) run.push_back(axis);
  const bool is_one_run = node.attrs.ufunc == Op::squared_deviations;  // whose parts are no numbers
  if (!is_one_run && !coalesces(dims_, graph_, placement_.places, node.operands[0], run)) {
    outer.assign(run.begin(), run.end() - 1);
    run.erase(run.begin(), run.end() - 1);
  }
  Index from = operand_index(node, index, dims_.constant(0));
  TempId start = start_of(v, node, from);
  TempId total = start;
  if (!outer.empty()) {
    total = lowering_.declare(start, dtype);
    for (int axis : outer) from[axis] = lowering_.open_loop(LoopKind::serial, operand.shape[axis], false);
  }
  Dim variable = lowering_.open_reducing(StmtKind::fold, run_extent(node, run));
  from = lowering_.run_index(node.operands[0], from, run, variable);
  Stmt fold;
  fold.op = node.attrs.ufunc;
  fold.node = id;
  fold.args = {lowering_.cast(lowering_.value_at(node.operands[0], from), dtype, id), total};
  TempId folded = lowering_.close_reducing(std::move(fold), dtype);
  if (outer.empty()) return folded;
  lowering_.assign(total, folded, dtype);
  for (size_t k = 0; k < outer.size(); ++k) lowering_.close_loop();
  return total;
}

TempId ReductionLowering::sequential_at(ValueId v, const Node& node, const Index& index, const std::vector<int>& axes) {
  DType dtype = graph_.type(v).dtype;
  Index from = operand_index(node, index, dims_.constant(0));
  TempId total = lowering_.declare(start_of(v, node, from), dtype);
  for (int axis : axes) from[axis] = lowering_.open_loop(LoopKind::serial, graph_.type(node.operands[0]).shape[axis], false);
  lowering_.assign(total, combined_at(v, node, from, total), dtype);
  for (size_t k = 0; k < axes.size(); ++k) lowering_.close_loop();
  return total;
}

TempId ReductionLowering::argreduce_at(ValueId v, const Node& node, const Index& index) {
  int axis = node.attrs.axes[0];
  Index from = operand_index(node, index, dims_.constant(0));
  from[axis] = lowering_.open_reducing(StmtKind::argreduce, graph_.type(node.operands[0]).shape[axis]);
  Stmt stmt;
  stmt.op = node.op;
  stmt.node = graph_.values[v].producer;
  stmt.args = {lowering_.value_at(node.operands[0], from)};
  return lowering_.close_reducing(std::move(stmt), DType::int64);
}

// Combines one row after the other into the tile: out[i] = op(out[i], in[k][i]).
Address ReductionLowering::column_tile(ValueId v, const Node& node, const Index& index, Dim variable, Dim extent) {
  auto done = lowering_.innermost().tiles.find({v, index});
  if (done != lowering_.innermost().tiles.end()) return done->second;
  DType dtype = graph_.type(v).dtype;
  Address tile = lowering_.tiles().new_tile(dtype, variable, extent);
  Index from = operand_index(node, index, dims_.constant(0));
  lowering_.open_loop_over(variable, LoopKind::simd, extent, false);
  lowering_.store(tile, start_of(v, node, from), dtype);
  lowering_.close_loop();
  const Type& operand = graph_.type(node.operands[0]);
  int opened = 0;
  for (int axis : lowering_.plan_of(v).outer_axes) {
    from[axis] = lowering_.open_loop(LoopKind::serial, operand.shape[axis], true);
    ++opened;
  }
  lowering_.open_loop_over(variable, LoopKind::simd, extent, false);
  lowering_.store(tile, combined_at(v, node, from, lowering_.load(tile, dtype)), dtype);
  lowering_.close_loop();
  for (; opened > 0; --opened) lowering_.close_loop();
  lowering_.innermost().tiles[{v, index}] = tile;
  return tile;
}

}  // namespace accel
