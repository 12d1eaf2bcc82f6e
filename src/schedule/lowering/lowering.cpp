#include "schedule/lowering/lowering.h"

#include <algorithm>
#include <numeric>

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/lowering/reductions.h"
#include "schedule/lowering/scopes.h"
#include "schedule/lowering/tiles.h"

namespace accel {

Lowering::Lowering(const Graph& graph, const Placement& placement, Program& program)
    : StatementLowering(program),
      graph_(graph),
      placement_(placement),
      program_(program),
      dims_(program.dims),
      root_buffers_(graph.values.size(), -1),
      reductions_(std::make_unique<ReductionLowering>(*this)),
      tiles_(std::make_unique<TileLowering>(*this)) {
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    if (graph.inputs[k].slot >= 0) continue;
    ValueId v = graph.entry().params[k];
    root_buffers_[v] = program.add_buffer({BufferKind::input,
                                           graph.type(v).dtype,
                                           dims_.product(graph.type(v).shape),
                                           program.input_count++,
                                           graph.inputs[k].name,
                                           {},
                                           {}});
  }
}

Lowering::~Lowering() = default;

void Lowering::begin_nest() {
  outer_loops_.clear();
  StatementLowering::begin_nest();
}

void Lowering::mark_outer_loop(std::vector<Dim> variables) {
  std::vector<int> symbols;
  for (Dim variable : variables) symbols.push_back(*dims_.as_symbol(variable));
  outer_loops_.push_back(symbols);
}

TempId Lowering::compute(Op op, std::vector<TempId> args, DType dtype, NodeId node) {
  Stmt stmt;
  stmt.kind = StmtKind::compute;
  stmt.op = op;
  stmt.args = std::move(args);
  stmt.node = node;
  stmt.quiet = node >= 0 && graph_.type(graph_.nodes[static_cast<size_t>(node)].results[0]).kind == ValueKind::py_scalar;
  return emit(std::move(stmt), dtype);
}

TempId Lowering::cast(TempId temp, DType to, NodeId node) {
  return dtype_of(temp) == to ? temp : compute(Op::astype, {temp}, to, node);
}

BufferId Lowering::root_buffer(ValueId v) {
  if (root_buffers_[v] >= 0) return root_buffers_[v];
  const Type& type = graph_.type(v);
  const std::vector<ValueId>& outputs = graph_.outputs();
  auto output = std::find(outputs.begin(), outputs.end(), v);
  bool is_output = output != outputs.end();
  Buffer buffer{is_output ? BufferKind::output : BufferKind::temp, type.dtype, dims_.product(type.shape),
                is_output ? static_cast<int>(output - outputs.begin()) : -1, "v" + std::to_string(v)};
  return root_buffers_[v] = program_.add_buffer(std::move(buffer));
}

std::optional<Address> Lowering::located(ValueId v, const Index& index) {
  std::optional<MemoryPosition> position = memory_position(dims_, graph_, placement_.places, v, index);
  if (!position) return std::nullopt;
  ValueId base = position->base;
  if (graph_.is_input(base)) {
    if (graph_.inputs[graph_.input_index(base)].slot >= 0) return std::nullopt;  // a scalar
    return Address{root_buffers_[base], position->offset};
  }
  if (placement_.places[base] == Place::root) return Address{root_buffer(base), position->offset};
  std::optional<Address> row = tiles_->row_at(base, position->index);
  Dim own = offset_of(dims_, position->index, memory_strides_of(dims_, graph_, base));
  row->offset = dims_.add(row->offset, dims_.sub(position->offset, own));
  return row;
}

TempId Lowering::value_at(ValueId v, const Index& index) {
  int level = scope_of(index);
  for (int k = level; k >= 0; --k) {
    auto it = scope(k).temps.find({v, index});
    if (it != scope(k).temps.end()) return it->second;
  }
  for (int k = level; k >= 0; --k) {
    auto it = scope(k).tiles.find({v, index});
    if (it == scope(k).tiles.end()) continue;
    Address tile = it->second;
    Cut cut(*this, level);
    TempId temp = load(tile, graph_.type(v).dtype);
    innermost().temps[{v, index}] = temp;
    return temp;
  }
  if (std::optional<Address> address = located(v, index)) {
    // A row is only filled inside the loops that it is local to, so a load from one must not be hoisted further.
    bool stays = program_.buffers[static_cast<size_t>(address->buffer)].kind == BufferKind::scratch;
    Cut cut(*this, stays ? level : scope_of({address->offset}));
    TempId temp = load(*address, graph_.type(v).dtype);
    innermost().temps[{v, index}] = temp;
    return temp;
  }
  return computed(v, index);
}

TempId Lowering::computed(ValueId v, const Index& index) {
  int level = scope_of(index);
  auto it = scope(level).temps.find({v, index});
  if (it != scope(level).temps.end()) return it->second;
  Cut cut(*this, level);
  TempId temp = compute_at(v, index);
  innermost().temps[{v, index}] = temp;
  return temp;
}

TempId Lowering::compute_at(ValueId v, const Index& index) {
  if (graph_.is_input(v)) {
    Stmt stmt;
    stmt.kind = StmtKind::input;
    stmt.slot = graph_.inputs[graph_.input_index(v)].slot;
    return emit(std::move(stmt), graph_.type(v).dtype);
  }
  const Node& node = graph_.producer(v);
  switch (op_class(node.op)) {
    case OpClass::leaf:
      return leaf_at(v, node, index);
    case OpClass::view:
      return view_at(v, node, index);
    case OpClass::reduction:
      return reductions_->reduction_at(v, node, index);
    case OpClass::gather:
      return gather_at(v, node, index);
    default:
      return pointwise_at(v, node, index);
  }
}

TempId Lowering::leaf_at(ValueId v, const Node& node, const Index& index) {
  DType dtype = graph_.type(v).dtype;
  if (node.op == Op::constant) return literal(node.attrs.literal);
  if (node.op == Op::full) return value_at(node.operands[0], {});
  if (node.op == Op::arange) return arange_at(v, node, index);
  Stmt stmt;
  stmt.kind = StmtKind::index;
  stmt.dim = node.attrs.dims[0];
  return cast(emit(std::move(stmt), DType::int64), dtype, graph_.values[v].producer);
}

TempId Lowering::arange_at(ValueId v, const Node& node, const Index& index) {
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  Stmt stmt;
  stmt.kind = StmtKind::index;
  stmt.dim = index[0];
  TempId position = cast(emit(std::move(stmt), DType::int64), dtype, id);
  TempId step = compute(Op::multiply, {position, value_at(node.operands[1], {})}, dtype, id);
  return compute(Op::add, {value_at(node.operands[0], {}), step}, dtype, id);
}

TempId Lowering::view_at(ValueId v, const Node& node, const Index& index) {
  TempId operand = value_at(node.operands[0], map_view_index(dims_, graph_, node, index));
  DType dtype = graph_.type(v).dtype;
  NodeId id = graph_.values[v].producer;
  auto part = [&](Op op) { return compute(op, {operand}, dtype, id); };
  if (node.op == Op::real || node.op == Op::imag) return part(node.op);
  if (node.op != Op::parts) return operand;
  if (auto which = dims_.as_constant(index.back())) return part(*which == 0 ? Op::real : Op::imag);
  Stmt stmt;
  stmt.kind = StmtKind::index;
  stmt.dim = index.back();
  TempId which = cast(emit(std::move(stmt), DType::int64), DType::bool_, id);
  return compute(Op::where, {which, part(Op::imag), part(Op::real)}, dtype, id);
}

// The element of a view of a scalar, which has no memory; all its elements are equal.
TempId Lowering::element_of_scalar(ValueId view, const Index& index) {
  ValueId base = viewed(graph_, view);
  bool scalar = graph_.is_input(base) && graph_.inputs[graph_.input_index(base)].slot >= 0;
  if (!scalar) fail_with(fail(Reason::internal_error, "elements at run-time indices of what is not in memory"));
  return value_at(view, index);
}

TempId Lowering::gather_at(ValueId v, const Node& node, const Index& index) {
  ValueId base = node.operands[0];
  size_t count = node.operands.size() - 1, rank = graph_.type(node.operands[1]).shape.size();
  Index from(count, dims_.constant(0)), own(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
  from.insert(from.end(), index.begin() + static_cast<std::ptrdiff_t>(rank), index.end());
  Stmt stmt;
  stmt.kind = StmtKind::gather;
  stmt.node = graph_.values[v].producer;
  for (size_t k = 1; k <= count; ++k) stmt.args.push_back(value_at(node.operands[k], own));
  std::optional<Address> address = located(base, from);
  if (!address) return element_of_scalar(base, from);
  stmt.address = *address;
  StridedView view = *strided_view(dims_, graph_, placement_.places, base);
  stmt.core_strides.assign(view.strides.begin(), view.strides.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<Dim>& shape = graph_.type(base).shape;
  auto is_listed = [&](ValueId v) { return !graph_.is_input(v) && graph_.producer(v).op == Op::true_indices; };
  const bool is_in_range = std::all_of(node.operands.begin() + 1, node.operands.end(), is_listed);
  if (graph_.target.is_device() && !is_in_range)
    stmt.core_dims.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(count));
  return emit(std::move(stmt), graph_.type(v).dtype);
}

TempId Lowering::pointwise_at(ValueId v, const Node& node, const Index& index) {
  if (is_loop_call(graph_, node)) return tiles_->call_at(v, node, index);
  if (placement_.is_tiled(v) && in_tile(index)) return tiles_->tiled_at(v, index);
  return element_at(v, node, index);
}

bool Lowering::is_call(ValueId v) const { return !graph_.is_input(v) && is_loop_call(graph_, graph_.producer(v)); }

TempId Lowering::element_at(ValueId v, const Node& node, const Index& index) {
  auto at = [&](ValueId operand) { return value_at(operand, graph_.type(operand).rank() == 0 ? Index{} : index); };
  // The other side of a comparison with a library call's result comes first, so that codegen may decide by an estimate
  // (codegen/analysis/compared.h).
  if (is_comparison(node.op) && is_call(node.operands[0]) && !is_call(node.operands[1])) at(node.operands[1]);
  std::vector<TempId> args;
  for (ValueId operand : node.operands) args.push_back(at(operand));
  Op op = node.op;
  bool product = graph_.type(v).kind != ValueKind::py_scalar && (op == Op::multiply || op == Op::square);
  if (product && dtype_kind(graph_.type(v).dtype) == 'c') {
    if (op == Op::square) args.push_back(args[0]);
    op = Op::fused_multiply;
  }
  return compute(op, std::move(args), graph_.type(v).dtype, graph_.values[v].producer);
}

Address Lowering::address_of(const StoreTarget& target, const Index& index) {
  return {target.buffer, dims_.add(target.base, offset_of(dims_, index, target.strides))};
}

void Lowering::store_elements(const std::vector<const StoreTarget*>& targets, const Index& index) {
  // A computed value is stored at once, as other targets of the nest may read it from its memory. Stores of copied values
  // come last, as they may overwrite memory that other targets read.
  std::vector<std::pair<const StoreTarget*, TempId>> waiting;
  for (const StoreTarget* target : targets) {
    TempId value = stored_value(*target, index);
    if (target->copied)
      waiting.emplace_back(target, value);
    else
      store(address_of(*target, index), value, graph_.type(target->value).dtype);
  }
  for (const auto& [target, value] : waiting) store(address_of(*target, index), value, graph_.type(target->value).dtype);
}

void Lowering::store_tile(const std::vector<StoreTarget>& targets, Index index, int axis, Dim begin, Dim extent) {
  Dim variable = dims_.new_variable();
  if (axis >= 0) index[axis] = dims_.add(begin, variable);
  std::vector<const StoreTarget*> batch;
  auto store_batch = [&] {
    if (batch.empty()) return;
    open_loop_over(variable, LoopKind::simd, extent, false);
    store_elements(batch, index);
    close_loop();
    batch.clear();
  };
  for (const StoreTarget& target : targets) {
    // A library call runs before the current vector loop, so everything that it reads must be stored first.
    if (computed_here(target) && calls_tiles(target.value)) store_batch();
    const Node* node = computed_here(target) ? &graph_.producer(target.value) : nullptr;
    if (!node || !is_loop_call(graph_, *node) || node->results.size() > 1) {
      batch.push_back(&target);
      continue;
    }
    Address destination = address_of(target, index);
    tiles_->call_tile(target.value, *node, index, variable, extent, &destination);
  }
  store_batch();
}

TempId Lowering::stored_value(const StoreTarget& target, const Index& index) {
  return computed_here(target) ? computed(target.value, index) : value_at(target.value, index);
}

// Whether the nest computes the target's value; inputs, views and roots with another buffer are copied.
bool Lowering::computed_here(const StoreTarget& target) {
  if (graph_.is_input(target.value)) return false;
  Place place = placement_.places[target.value];
  if (place == Place::root) return root_buffer(target.value) == target.buffer;
  return place != Place::inlined || op_class(graph_.producer(target.value).op) != OpClass::view;
}

bool Lowering::calls_tiles(ValueId v) const {
  if (graph_.is_input(v)) return false;
  const Node& node = graph_.producer(v);
  if (placement_.is_tiled(v) || is_loop_call(graph_, node)) return true;
  return std::any_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return needs_tiles(graph_, placement_, operand); });
}

// Uses the last axis alone when the axes coalesce in memory, else divides the position into one index per axis.
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

}  // namespace accel
