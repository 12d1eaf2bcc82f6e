#include "schedule/lowering/scans.h"

#include <algorithm>

namespace accel {

namespace {

class ScanWriter {
 public:
  ScanWriter(const Graph& graph, Lowering& lowering, const Node& node)
      : graph_(graph),
        lowering_(lowering),
        dims_(lowering.dims()),
        node_(node),
        id_(graph.values[static_cast<size_t>(node.results[0])].producer),
        from_(graph.type(node.operands[0])),
        to_(graph.type(node.results[0])),
        result_(lowering.root_buffer(node.results[0])) {}

  // Lists the indices of true elements. The last axes that coalesce are one `list` statement; the outer loops end once all true
  // elements have been found. On a device, whose threads share the statement, it has all axes.
  void true_indices() {
    const ValueId mask = node_.operands[0];
    const Dim count = to_.shape[0], zero = dims_.constant(0);
    const bool is_one = graph_.target.is_device();
    const size_t rank = from_.shape.size(), outer = is_one ? 0 : rank - lowering_.count_in_row(mask);
    std::vector<int> row;
    for (size_t axis = outer; axis < rank; ++axis) row.push_back(static_cast<int>(axis));
    Dim iterations = dims_.min(count, dims_.constant(1));
    const TempId all = number(count);
    const TempId first = lowering_.literal(Literal::of_int(DType::int64, 0));
    const TempId next = is_one ? first : lowering_.declare(first, DType::int64);
    Index index(rank, zero);
    for (size_t axis = 0; axis < outer; ++axis) {
      index[axis] = lowering_.open_loop(LoopKind::serial, dims_.mul(from_.shape[axis], iterations), false);
      iterations = dims_.constant(1);
    }
    TempId base = number(linear_index(dims_, from_.shape, index));
    for (int axis : row) iterations = dims_.mul(iterations, from_.shape[static_cast<size_t>(axis)]);
    Dim position = lowering_.open_reducing(StmtKind::list, iterations);
    Stmt stmt;
    stmt.node = id_;
    stmt.args = {lowering_.value_at(mask, lowering_.run_index(mask, index, row, position)), next, base, all};
    stmt.address = {result_, zero};
    const TempId end = lowering_.close_reducing(std::move(stmt), DType::int64);
    if (!is_one) lowering_.assign(next, end, DType::int64);
    for (size_t axis = 0; axis < outer; ++axis) lowering_.close_loop_while(compute(Op::less, {next, all}, DType::bool_));
  }

  void accumulate() {
    strides_ = dense_strides(dims_, to_);
    std::vector<uint8_t> order = to_.axis_order();
    auto axis = static_cast<size_t>(node_.attrs.axes[0]);
    if (graph_.target.is_device())
      accumulate_on_device(axis, order);
    else if (order.back() == axis)
      accumulate_rows(axis, order);
    else
      accumulate_slices(axis, order);
  }

 private:
  TempId compute(Op op, std::vector<TempId> args, DType dtype) { return lowering_.compute(op, std::move(args), dtype, id_); }

  TempId number(Dim d) {
    Stmt stmt;
    stmt.kind = StmtKind::index;
    stmt.dim = d;
    return lowering_.emit(std::move(stmt), DType::int64);
  }

  void close(size_t count) {
    for (size_t k = 0; k < count; ++k) lowering_.close_loop();
  }

  Address place(const Index& index) { return {result_, offset_of(dims_, index, strides_)}; }

  // Accumulates along the innermost axis, with an accumulator per row.
  void accumulate_rows(size_t axis, const std::vector<uint8_t>& order) {
    Index index(to_.shape.size(), dims_.constant(0));
    size_t outer = order.size() - 1;
    for (size_t k = 0; k < outer; ++k) {
      LoopKind kind = k == 0 ? LoopKind::parallel : LoopKind::serial;
      index[order[k]] = lowering_.open_loop(kind, to_.shape[order[k]], false);
    }
    accumulate_row(axis, index);
    close(outer);
  }

  // Whether runs may be divided: sums of float16 are rounded too coarsely for another order.
  bool is_associative(Op op) const {
    const bool sums = op == Op::add || op == Op::multiply;
    return (sums && to_.dtype != DType::float16) || is_extreme(op) || op == Op::bitwise_and || op == Op::bitwise_or ||
           op == Op::bitwise_xor;
  }

  // All other axes are loops around the run, whatever its place in memory: neighbouring threads have neighbouring runs.
  void accumulate_on_device(size_t axis, const std::vector<uint8_t>& order) {
    Index index(to_.shape.size(), dims_.constant(0));
    for (uint8_t other : order)
      if (other != axis) index[other] = lowering_.open_loop(LoopKind::parallel, to_.shape[other], false);
    if (is_associative(node_.attrs.ufunc)) {
      index[axis] = lowering_.open_reducing(StmtKind::accumulate, to_.shape[axis]);
      Stmt stmt;
      stmt.op = node_.attrs.ufunc;
      stmt.node = id_;
      stmt.args = {lowering_.value_at(node_.operands[0], index)};
      stmt.address = place(index);
      lowering_.close_reducing(std::move(stmt), to_.dtype);
    } else {
      accumulate_row(axis, index);
    }
    close(order.size() - 1);
  }

  void accumulate_row(size_t axis, Index& index) {
    Dim one = dims_.constant(1), extent = to_.shape[axis];
    Literal zero;
    zero.dtype = to_.dtype;
    TempId sum = lowering_.declare(lowering_.literal(zero), to_.dtype);
    index[axis] = lowering_.open_loop(LoopKind::serial, dims_.min(extent, one), false);
    TempId first = lowering_.value_at(node_.operands[0], index);
    lowering_.assign(sum, first, to_.dtype);
    lowering_.store(place(index), first, to_.dtype);
    lowering_.close_loop();
    index[axis] = dims_.add(lowering_.open_loop(LoopKind::serial, dims_.sub(extent, one), false), one);
    TempId next = compute(node_.attrs.ufunc, {sum, lowering_.value_at(node_.operands[0], index)}, to_.dtype);
    lowering_.assign(sum, next, to_.dtype);
    lowering_.store(place(index), next, to_.dtype);
    lowering_.close_loop();
  }

  // Accumulates along an outer axis: each slice from the previous one.
  void accumulate_slices(size_t axis, const std::vector<uint8_t>& order) {
    Dim one = dims_.constant(1), extent = to_.shape[axis];
    for (bool start : {true, false}) {
      Dim slice = lowering_.open_loop(LoopKind::serial, start ? dims_.min(extent, one) : dims_.sub(extent, one), false);
      Index index(to_.shape.size(), slice);
      if (!start) index[axis] = dims_.add(slice, one);
      for (uint8_t other : order)
        if (other != axis) index[other] = lowering_.open_loop(LoopKind::serial, to_.shape[other], false);
      TempId value = lowering_.value_at(node_.operands[0], index);
      if (!start) {
        Index before = index;
        before[axis] = slice;
        value = compute(node_.attrs.ufunc, {lowering_.load(place(before), to_.dtype), value}, to_.dtype);
      }
      lowering_.store(place(index), value, to_.dtype);
      close(order.size());
    }
  }

  const Graph& graph_;
  Lowering& lowering_;
  DimTable& dims_;
  const Node& node_;
  NodeId id_;
  const Type &from_, &to_;
  BufferId result_;
  std::vector<Dim> strides_;
};

}  // namespace

Nest lower_scan(const Graph& graph, Lowering& lowering, const Node& node) {
  Nest nest;
  nest.name = op_info(node.op).name;
  nest.work = lowering.dims().product(graph.type(node.operands[0]).shape);
  lowering.begin_nest();
  ScanWriter writer(graph, lowering, node);
  if (node.op == Op::true_indices)
    writer.true_indices();
  else
    writer.accumulate();
  nest.body = lowering.end_nest();
  return nest;
}

}  // namespace accel
