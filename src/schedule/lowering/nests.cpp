#include "schedule/lowering/nests.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/lowering/untile.h"

namespace accel {

namespace {

// Properties of the computation of a nest's targets.
struct Contents {
  int row_depth = 0;
  bool spreads_reductions = false;  // whether a reduction's result is broadcast along an axis
  Dim work;
};

class Survey {
 public:
  Survey(const Graph& graph, const Placement& placement, DimTable& dims) : graph_(graph), placement_(placement), dims_(dims) {
    contents_.work = dims.constant(0);
  }

  // Adds a stored value; moving elements counts as work even when nothing is computed.
  void add_stored(const StoreTarget& target) {
    const Type& type = graph_.type(target.value);
    bool copied = graph_.is_input(target.value) || op_class(graph_.producer(target.value).op) == OpClass::view;
    int64_t moved = copied;
    if (copied) moved += skipped_in(target.value);
    if (type.rank() > 0) moved += skipped(target.strides[type.axis_order().back()], type.dtype);
    contents_.work = dims_.add(contents_.work, dims_.mul(dims_.product(type.shape), moved));
    add(target.value);
  }

  void add(ValueId v, bool is_spread = false) {
    if (graph_.is_input(v)) return;
    const Node& node = graph_.producer(v);
    if (op_class(node.op) == OpClass::reduction) contents_.spreads_reductions |= is_spread;
    if (!seen_.insert(v).second) return;
    is_spread |= node.op == Op::broadcast_to || node.op == Op::expand_dims;
    Dim elements = dims_.product(graph_.type(v).shape);
    if (op_class(node.op) == OpClass::reduction) elements = dims_.product(graph_.type(node.operands[0]).shape);
    bool counts = op_class(node.op) != OpClass::view;
    if (counts) contents_.work = dims_.add(contents_.work, dims_.mul(elements, is_loop_call(graph_, node) ? 16 : 1));
    for (ValueId operand : node.operands) {
      if (op_class(node.op) == OpClass::pointwise)
        contents_.work = dims_.add(contents_.work, dims_.mul(elements, skipped_in(operand)));
      if (graph_.is_input(operand) || placement_.places[operand] == Place::root) continue;
      if (placement_.places[operand] == Place::row)
        contents_.row_depth = std::max(contents_.row_depth, placement_.row_levels[operand]);
      add(operand, is_spread && op_class(node.op) != OpClass::reduction);
    }
  }

  const Contents& contents() const { return contents_; }

 private:
  // Unused elements per loaded or stored one: memory moves whole cache lines.
  int64_t skipped(Dim stride, DType dtype) const {
    std::optional<int64_t> distance = dims_.known(stride, graph_.hints);
    if (!distance) return 0;
    int64_t bytes = std::min<int64_t>(std::abs(*distance), line_bytes);
    return std::max<int64_t>(bytes / item_size(dtype) - 1, 0);
  }

  // Unused elements per element read from a view.
  int64_t skipped_in(ValueId v) {
    const Type& type = graph_.type(v);
    if (graph_.is_input(v) || type.rank() == 0 || op_class(graph_.producer(v).op) != OpClass::view) return 0;
    std::optional<StridedView> view = strided_view(dims_, graph_, placement_.places, v);
    return view ? skipped(view->strides[type.axis_order().back()], type.dtype) : 0;
  }

  const Graph& graph_;
  const Placement& placement_;
  DimTable& dims_;
  std::set<ValueId> seen_;
  Contents contents_;
};

}  // namespace

std::vector<NestLoop> nest_loops(const Graph& graph, const Placement& placement, DimTable& dims,
                                 const std::vector<StoreTarget>& targets) {
  const Type& type = graph.type(targets[0].value);
  std::vector<uint8_t> order = type.axis_order();
  std::vector<int> axes(order.begin(), order.end());
  auto evenly = [&](size_t first) {
    std::vector<int> suffix(axes.begin() + first, axes.end());
    return std::all_of(targets.begin(), targets.end(), [&](const StoreTarget& target) {
      for (size_t k = 0; k + 1 < suffix.size(); ++k)
        if (target.strides[suffix[k]] != dims.mul(target.strides[suffix[k + 1]], type.shape[suffix[k + 1]])) return false;
      // This nest computes the target itself, so its own memory does not matter.
      std::vector<Place> places = placement.places;
      if (!target.copied) places[target.value] = Place::inlined;
      return coalesces(dims, graph, places, target.value, suffix);
    });
  };
  size_t first = 0;
  while (first + 1 < axes.size() && !evenly(first)) ++first;
  std::vector<NestLoop> loops;
  for (size_t k = 0; k < first; ++k) loops.push_back({axes[k], type.shape[axes[k]]});
  Dim inner = dims.constant(1);
  for (size_t k = first; k < axes.size(); ++k) inner = dims.mul(inner, type.shape[axes[k]]);
  if (!axes.empty()) loops.push_back({axes.back(), inner});
  return loops;
}

namespace {

Dim tile_count(DimTable& dims, Dim extent) {
  return dims.floordiv(dims.add(extent, dims.constant(tile_elements - 1)), dims.constant(tile_elements));
}

// The outer loop is parallel, unless it has too few iterations to occupy a large machine while there are enough tiles.
constexpr int64_t fewest_parallel_rows = 16, fewest_parallel_tiles = 8;

class NestWriter {
 public:
  NestWriter(const Graph& graph, Lowering& lowering, const std::vector<StoreTarget>& targets, std::vector<NestLoop> loops)
      : graph_(graph), lowering_(lowering), dims_(lowering.dims()), targets_(targets), loops_(std::move(loops)) {
    index_.assign(graph.type(targets[0].value).rank(), dims_.constant(0));
  }

  // Writes the loops. Tiles are outermost when rows are few and long, unless something is computed once per row.
  void write(int row_depth, bool by_rows) {
    if (loops_.empty()) return write_scalars();
    bool rows_everywhere = row_depth >= static_cast<int>(loops_.size());
    if (!graph_.target.has_tiles()) return write_elements();
    if (rows_everywhere) return write_plain();
    const NestLoop& inner = loops_.back();
    bool swap = row_depth == 0 && !by_rows && loops_.size() > 1 && hint(loops_[0].extent) < fewest_parallel_rows &&
                hint(inner.extent) >= fewest_parallel_tiles * tile_elements;
    if (swap || loops_.size() == 1) return write_tiles_outermost();
    write_tiles_innermost();
  }

 private:
  int64_t hint(Dim d) const { return dims_.evaluate(d, graph_.hints); }

  void write_scalars() {
    for (const StoreTarget& target : targets_)
      lowering_.store({target.buffer, target.base}, lowering_.stored_value(target, {}), graph_.type(target.value).dtype);
  }

  void open_outer(size_t first, size_t last, bool parallel_first) {
    for (size_t k = first; k < last; ++k) {
      const bool is_parallel = parallel_first && (k == first || graph_.target.is_device());
      LoopKind kind = is_parallel ? LoopKind::parallel : LoopKind::serial;
      Dim variable = lowering_.open_loop(kind, loops_[k].extent, true);
      lowering_.mark_outer_loop({variable});
      index_[loops_[k].axis] = variable;
    }
  }

  void close(size_t count) {
    for (size_t k = 0; k < count; ++k) lowering_.close_loop();
  }

  void store_inner(Dim tile) {
    const NestLoop& inner = loops_.back();
    Dim begin = dims_.mul(tile, tile_elements);
    lowering_.store_tile(targets_, index_, inner.axis, begin,
                         dims_.min(dims_.constant(tile_elements), dims_.sub(inner.extent, begin)));
  }

  void write_plain() {
    open_outer(0, loops_.size(), true);
    lowering_.store_tile(targets_, index_, -1, dims_.constant(0), dims_.constant(1));
    close(loops_.size());
  }

  void write_elements() {
    std::vector<const StoreTarget*> stored;
    for (const StoreTarget& target : targets_) stored.push_back(&target);
    open_outer(0, loops_.size(), true);
    lowering_.store_elements(stored, index_);
    close(loops_.size());
  }

  void write_tiles_outermost() {
    Dim tile = lowering_.open_loop(LoopKind::parallel, tile_count(dims_, loops_.back().extent), true);
    open_outer(0, loops_.size() - 1, false);
    store_inner(tile);
    close(loops_.size());
  }

  void write_tiles_innermost() {
    open_outer(0, loops_.size() - 1, true);
    Dim tile = lowering_.open_loop(LoopKind::serial, tile_count(dims_, loops_.back().extent), true);
    store_inner(tile);
    close(loops_.size());
  }

  const Graph& graph_;
  Lowering& lowering_;
  DimTable& dims_;
  const std::vector<StoreTarget>& targets_;
  std::vector<NestLoop> loops_;
  Index index_;
};

// The target of add_row: the memory after the last row.
StoreTarget next_row(const Graph& graph, Lowering& lowering, const Node& node) {
  const Type& base = graph.type(node.operands[0]);
  std::vector<Dim> strides = dense_strides(lowering.dims(), base);
  Dim offset = lowering.dims().mul(strides[0], base.shape[0]);
  return {node.operands[1], lowering.root_buffer(node.operands[0]), offset, {strides.begin() + 1, strides.end()}, true};
}

// Writes elements in order: of equal indices the last one counts, and update_at applies each.
void write_put(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node, const StridedView& base) {
  DimTable& dims = lowering.dims();
  const Type& type = graph.type(node.operands[1]);
  Index index;
  for (Dim extent : type.shape) index.push_back(lowering.open_loop(LoopKind::serial, extent, false));
  size_t count = node.operands.size() - 2, lead = graph.type(node.operands[2]).shape.size();
  Stmt stmt;
  stmt.dtype = type.dtype;
  stmt.node = graph.values[static_cast<size_t>(node.results[0])].producer;
  stmt.args = {lowering.value_at(node.operands[1], index)};
  for (size_t k = 2; k < node.operands.size(); ++k) {
    stmt.args.push_back(
        lowering.value_at(node.operands[k], Index(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(lead))));
    stmt.core_strides.push_back(base.strides[k - 2]);
  }
  const std::vector<Dim>& shape = graph.type(node.operands[0]).shape;
  if (graph.target.is_device()) stmt.core_dims.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(count));
  Dim offset = base.offset;
  for (size_t k = lead; k < index.size(); ++k) offset = dims.add(offset, dims.mul(index[k], base.strides[count + k - lead]));
  stmt.address = {lowering.root_buffer(base.base), offset};
  if (node.op == Op::update_at) {
    Stmt old = stmt;
    old.kind = StmtKind::gather;
    old.args.erase(old.args.begin());
    TempId element = lowering.emit(std::move(old), type.dtype);
    stmt.args[0] = lowering.compute(node.attrs.ufunc, {element, stmt.args[0]}, type.dtype, stmt.node);
  }
  stmt.kind = StmtKind::scatter;
  lowering.append(std::move(stmt));
  for (size_t k = 0; k < index.size(); ++k) lowering.close_loop();
}

}  // namespace

std::optional<StoreTarget> store_target(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node) {
  std::optional<StridedView> view = strided_view(lowering.dims(), graph, placement.places, node.operands[1]);
  if (!view) return std::nullopt;
  return StoreTarget{node.operands[2], lowering.root_buffer(view->base), view->offset, view->strides, true};
}

Dim nest_work(const Graph& graph, const Placement& placement, DimTable& dims, const std::vector<StoreTarget>& targets) {
  Survey survey(graph, placement, dims);
  for (const StoreTarget& target : targets) survey.add_stored(target);
  return survey.contents().work;
}

std::optional<Nest> lower_update(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node) {
  lowering.set_root_buffer(node.results[0], lowering.root_buffer(node.operands[0]));
  if (node.op == Op::store) {
    std::optional<StoreTarget> target = store_target(graph, placement, lowering, node);
    if (!target) return std::nullopt;
    Nest nest = lower_nest(graph, placement, lowering, {*target});
    nest.name = "store";
    return nest;
  }
  if (node.op == Op::add_row) {
    Nest nest = lower_nest(graph, placement, lowering, {next_row(graph, lowering, node)});
    nest.name = "add_row";
    return nest;
  }
  Nest nest;
  nest.name = "put";
  nest.work = lowering.dims().product(graph.type(node.operands[1]).shape);
  std::optional<StridedView> base = strided_view(lowering.dims(), graph, placement.places, node.operands[0]);
  if (!base) return std::nullopt;
  lowering.begin_nest();
  write_put(graph, placement, lowering, node, *base);
  nest.body = lowering.end_nest();
  return nest;
}

Nest lower_nest(const Graph& graph, const Placement& placement, Lowering& lowering, const std::vector<StoreTarget>& targets) {
  Survey survey(graph, placement, lowering.dims());
  for (const StoreTarget& target : targets) survey.add_stored(target);
  Nest nest;
  nest.name = "nest";
  nest.work = survey.contents().work;
  lowering.begin_nest();
  std::vector<NestLoop> loops = nest_loops(graph, placement, lowering.dims(), targets);
  NestWriter(graph, lowering, targets, std::move(loops))
      .write(survey.contents().row_depth, survey.contents().spreads_reductions);
  nest.body = lowering.end_nest();
  untile(lowering.dims(), nest.body);
  return nest;
}

namespace {

// The operands of a gufunc and its result, and the strides of their axes in bytes.
struct GufuncOperands {
  std::vector<ValueId> values;
  std::vector<std::vector<int>> signature;
  std::vector<StridedView> views;
  int batch_rank = 0;

  GufuncOperands(DimTable& dims, const Graph& graph, const Placement& placement, const Node& node)
      : values(node.operands), signature(core_signature(node.op)) {
    values.push_back(node.results[0]);
    for (ValueId v : values) views.push_back(*strided_view(dims, graph, placement.places, v));
    batch_rank = graph.type(node.results[0]).rank() - static_cast<int>(signature.back().size());
  }

  int own_batch(const Graph& graph, size_t k) const {
    return graph.type(values[k]).rank() - static_cast<int>(signature[k].size());
  }
  // Of a batch axis of the result; 0 where the operand lacks the axis or is broadcast along it.
  Dim stride(DimTable& dims, const Graph& graph, size_t k, int batch_axis) const {
    const int axis = batch_axis - (batch_rank - own_batch(graph, k));
    if (axis < 0 || dims.is_constant(graph.type(values[k]).shape[axis], 1)) return dims.constant(0);
    return views[k].strides[axis];
  }
};

// How many of the innermost batch axes one call computes: those through which every operand has one stride.
int joined_axes(DimTable& dims, const Graph& graph, const GufuncOperands& operands) {
  const std::vector<Dim>& shape = graph.type(operands.values.back()).shape;
  auto continues = [&](int axis) {
    for (size_t k = 0; k < operands.values.size(); ++k)
      if (operands.stride(dims, graph, k, axis) != dims.mul(shape[axis + 1], operands.stride(dims, graph, k, axis + 1)))
        return false;
    return true;
  };
  int joined = operands.batch_rank > 0 ? 1 : 0;
  while (joined < operands.batch_rank && continues(operands.batch_rank - joined - 1)) ++joined;
  return joined;
}

}  // namespace

Nest lower_gufunc(const Graph& graph, const Placement& placement, Lowering& lowering, const Node& node) {
  DimTable& dims = lowering.dims();
  ValueId result = node.results[0];
  const GufuncOperands operands(dims, graph, placement, node);
  const std::vector<ValueId>& values = operands.values;
  const std::vector<std::vector<int>>& signature = operands.signature;
  const int batch_rank = operands.batch_rank;
  // A device computes many small matrices at once; the loops of the CPU call NumPy's for each.
  const int loops = batch_rank - (graph.target.is_device() ? joined_axes(dims, graph, operands) : 0);
  Nest nest;
  nest.name = op_info(node.op).name;
  nest.on_calling_thread = true;
  nest.work = dims.constant(0);
  lowering.begin_nest();
  Index batch;
  for (int k = 0; k < loops; ++k) batch.push_back(lowering.open_loop(LoopKind::serial, graph.type(result).shape[k], false));
  batch.resize(batch_rank, dims.constant(0));
  Stmt stmt;
  stmt.kind = StmtKind::gufunc;
  stmt.op = node.op;
  stmt.node = graph.values[result].producer;
  if (loops < batch_rank) {
    stmt.extent = dims.constant(1);
    for (int k = loops; k < batch_rank; ++k) stmt.extent = dims.mul(stmt.extent, graph.type(result).shape[k]);
  }
  LoopImport import{node.op, {}};
  int core_count = 0;
  for (const std::vector<int>& core : signature)
    for (int k : core) core_count = std::max(core_count, k + 1);
  stmt.core_dims.resize(core_count);
  for (size_t k = 0; k < values.size(); ++k) {
    const Type& type = graph.type(values[k]);
    import.dtypes.push_back(type.dtype);
    const int own_batch = operands.own_batch(graph, k);
    Index index(batch.end() - own_batch, batch.end());
    for (int axis = 0; axis < own_batch; ++axis)
      if (dims.is_constant(type.shape[axis], 1)) index[axis] = dims.constant(0);
    index.resize(type.rank(), dims.constant(0));
    const Dim step = loops < batch_rank ? operands.stride(dims, graph, k, batch_rank - 1) : dims.constant(0);
    stmt.operands.push_back({*lowering.located(values[k], index), step});
    for (size_t c = 0; c < signature[k].size(); ++c) {
      stmt.core_dims[signature[k][c]] = type.shape[own_batch + c];
      stmt.core_strides.push_back(operands.views[k].strides[own_batch + c]);
    }
  }
  stmt.import = lowering.import_of(import);
  lowering.append(std::move(stmt));
  for (int k = 0; k < loops; ++k) lowering.close_loop();
  nest.body = lowering.end_nest();
  return nest;
}

}  // namespace accel
