#include "schedule/lowering/lowering.h"

#include <algorithm>

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/lowering/scopes.h"

namespace accel {

bool Lowering::KeyLess::operator()(const Key& a, const Key& b) const {
  if (a.first != b.first) return a.first < b.first;
  return std::lexicographical_compare(a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
                                      [](Dim x, Dim y) { return x.id < y.id; });
}

Lowering::Lowering(const Graph& graph, const Placement& placement, Program& program)
    : graph_(graph), placement_(placement), program_(program), dims_(program.dims), root_buffers_(graph.values.size(), -1) {
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

void Lowering::begin_nest() {
  scopes_.clear();
  outer_loops_.clear();
  scopes_.push_back(std::make_unique<Scope>());
}

Body Lowering::end_nest() {
  Body body = std::move(scopes_.front()->body);
  scopes_.clear();
  return body;
}

Dim Lowering::open_loop(LoopKind kind, Dim extent, bool holds_tiles) {
  Dim variable = dims_.new_variable();
  open_loop_over(variable, kind, extent, holds_tiles);
  return variable;
}

void Lowering::open_loop_over(Dim variable, LoopKind kind, Dim extent, bool holds_tiles) {
  auto scope = std::make_unique<Scope>();
  scope->header.kind = StmtKind::loop;
  scope->header.loop_kind = kind;
  scope->header.var = variable;
  scope->header.extent = extent;
  scope->holds_tiles = holds_tiles;
  scopes_.push_back(std::move(scope));
}

void Lowering::close_loop() {
  std::unique_ptr<Scope> scope = std::move(scopes_.back());
  scopes_.pop_back();
  scope->header.body = std::move(scope->body);
  append(std::move(scope->header));
}

void Lowering::close_loop_while(TempId more) {
  scopes_.back()->header.kind = StmtKind::repeat;
  scopes_.back()->header.args = {more};
  close_loop();
}

void Lowering::mark_outer_loop(std::vector<Dim> variables) {
  std::vector<int> symbols;
  for (Dim variable : variables) symbols.push_back(*dims_.as_symbol(variable));
  outer_loops_.push_back(symbols);
}

int Lowering::scope_of(const Index& index) const {
  int deepest = 0;
  // An index along an axis without elements is taken to be 0: it is no element's.
  for (int k = static_cast<int>(scopes_.size()); k-- > 1 && deepest == 0;)
    if (dims_.is_constant(scopes_[k]->header.extent, 0)) deepest = k;
  for (Dim d : index)
    for (int symbol : dims_.symbols(d))
      for (int k = static_cast<int>(scopes_.size()); k-- > deepest + 1;)
        if (dims_.as_symbol(scopes_[k]->header.var) == symbol) deepest = k;
  return deepest;
}

TempId Lowering::emit(Stmt stmt, DType dtype) {
  stmt.dst = program_.add_temp(dtype);
  stmt.dtype = dtype;
  append(std::move(stmt));
  return static_cast<TempId>(program_.temps.size()) - 1;
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

TempId Lowering::load(const Address& address, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::load;
  stmt.address = address;
  return emit(std::move(stmt), dtype);
}

void Lowering::store(const Address& address, TempId value, DType dtype) {
  Stmt stmt;
  stmt.kind = StmtKind::store;
  stmt.address = address;
  stmt.args = {value};
  stmt.dtype = dtype;
  append(std::move(stmt));
}

TempId Lowering::literal(Literal value) {
  Stmt stmt;
  stmt.kind = StmtKind::constant;
  stmt.literal = value;
  return emit(std::move(stmt), value.dtype);
}

TempId Lowering::cast(TempId temp, DType to, NodeId node) {
  return program_.temps[temp] == to ? temp : compute(Op::astype, {temp}, to, node);
}

BufferId Lowering::scratch(DType dtype, Dim elements, std::string name) {
  return program_.add_buffer({BufferKind::scratch, dtype, elements, -1, std::move(name)});
}

BufferId Lowering::temp(DType dtype, Dim elements, std::string name) {
  return program_.add_buffer({BufferKind::temp, dtype, elements, -1, std::move(name)});
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
  std::optional<Address> row = row_at(base, position->index);
  Dim own = offset_of(dims_, position->index, memory_strides_of(dims_, graph_, base));
  row->offset = dims_.add(row->offset, dims_.sub(position->offset, own));
  return row;
}

TempId Lowering::value_at(ValueId v, const Index& index) {
  int level = scope_of(index);
  for (int k = level; k >= 0; --k) {
    auto it = scopes_[k]->temps.find({v, index});
    if (it != scopes_[k]->temps.end()) return it->second;
  }
  for (int k = level; k >= 0; --k) {
    auto it = scopes_[k]->tiles.find({v, index});
    if (it == scopes_[k]->tiles.end()) continue;
    Address tile = it->second;
    Cut cut(*this, level);
    TempId temp = load(tile, graph_.type(v).dtype);
    scopes_.back()->temps[{v, index}] = temp;
    return temp;
  }
  if (std::optional<Address> address = located(v, index)) {
    // Rows are filled inside the loops that they are local to.
    bool stays = program_.buffers[static_cast<size_t>(address->buffer)].kind == BufferKind::scratch;
    Cut cut(*this, stays ? level : scope_of({address->offset}));
    TempId temp = load(*address, graph_.type(v).dtype);
    scopes_.back()->temps[{v, index}] = temp;
    return temp;
  }
  return computed(v, index);
}

TempId Lowering::computed(ValueId v, const Index& index) {
  int level = scope_of(index);
  auto it = scopes_[level]->temps.find({v, index});
  if (it != scopes_[level]->temps.end()) return it->second;
  Cut cut(*this, level);
  TempId temp = compute_at(v, index);
  scopes_.back()->temps[{v, index}] = temp;
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
      return reduction_at(v, node, index);
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

// An element of a view of a scalar, which has no memory: all of them are equal.
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
  return emit(std::move(stmt), graph_.type(v).dtype);
}

TempId Lowering::pointwise_at(ValueId v, const Node& node, const Index& index) {
  if (is_loop_call(graph_, node)) return call_at(v, node, index);
  if (placement_.is_tiled(v) && in_tile(index)) return tiled_at(v, index);
  return element_at(v, node, index);
}

TempId Lowering::element_at(ValueId v, const Node& node, const Index& index) {
  std::vector<TempId> args;
  for (ValueId operand : node.operands) args.push_back(value_at(operand, graph_.type(operand).rank() == 0 ? Index{} : index));
  Op op = node.op;
  bool product = graph_.type(v).kind != ValueKind::py_scalar && (op == Op::multiply || op == Op::square);
  if (product && dtype_kind(graph_.type(v).dtype) == 'c') {
    if (op == Op::square) args.push_back(args[0]);
    op = Op::fused_multiply;
  }
  return compute(op, std::move(args), graph_.type(v).dtype, graph_.values[v].producer);
}

void Lowering::store_tile(const std::vector<StoreTarget>& targets, Index index, int axis, Dim begin, Dim extent) {
  Dim variable = dims_.new_variable();
  if (axis >= 0) index[axis] = dims_.add(begin, variable);
  auto address = [&](const StoreTarget& target) {
    return Address{target.buffer, dims_.add(target.base, offset_of(dims_, index, target.strides))};
  };
  std::vector<const StoreTarget*> batch;
  auto store_batch = [&] {
    if (batch.empty()) return;
    open_loop_over(variable, LoopKind::simd, extent, false);
    // What is computed here is stored at once: others of the nest may read it from its memory. Stores to what others need come
    // last.
    std::vector<std::pair<const StoreTarget*, TempId>> waiting;
    for (const StoreTarget* target : batch) {
      ValueId v = target->value;
      TempId value = stored_value(*target, index);
      if (target->copied)
        waiting.emplace_back(target, value);
      else
        store(address(*target), value, graph_.type(v).dtype);
    }
    for (const auto& [target, value] : waiting) store(address(*target), value, graph_.type(target->value).dtype);
    close_loop();
    batch.clear();
  };
  for (const StoreTarget& target : targets) {
    // A call runs before the loop that is open now: what it reads must be stored by then.
    if (computed_here(target) && calls_tiles(target.value)) store_batch();
    const Node* node = computed_here(target) ? &graph_.producer(target.value) : nullptr;
    if (!node || !is_loop_call(graph_, *node) || node->results.size() > 1) {
      batch.push_back(&target);
      continue;
    }
    Address destination = address(target);
    call_tile(target.value, *node, index, variable, extent, &destination);
  }
  store_batch();
}

TempId Lowering::stored_value(const StoreTarget& target, const Index& index) {
  return computed_here(target) ? computed(target.value, index) : value_at(target.value, index);
}

// Whether a target's value is computed by its nest; inputs, views and roots that have memory of their own are copied.
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

}  // namespace accel
