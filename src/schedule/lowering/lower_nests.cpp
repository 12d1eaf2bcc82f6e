#include "schedule/lowering/lower_nests.h"

#include <algorithm>

#include "schedule/analysis/index_maps.h"
#include "schedule/lowering/nests.h"
#include "schedule/lowering/scans.h"
#include "schedule/lowering/sliding_rows.h"
#include "schedule/memory/fusion_groups.h"
#include "schedule/program/store_order.h"

namespace accel {

namespace {

StoreTarget whole(const Graph& graph, Lowering& lowering, ValueId v) {
  return {v, lowering.root_buffer(v), lowering.dims().constant(0), dense_strides(lowering.dims(), graph.type(v))};
}

// The target of a copy of a reshaped array in C order, as a nest over the axes from before the reshape: both have the same
// linear index.
StoreTarget by_own_axes(const Graph& graph, const Placement& placement, Lowering& lowering, StoreTarget copy) {
  const Node& node = graph.producer(copy.value);
  if (node.op != Op::copy || !graph.type(copy.value).is_c_order() || graph.is_input(node.operands[0])) return copy;
  const Node& reshape = graph.producer(node.operands[0]);
  if (reshape.op != Op::reshape || placement.places[static_cast<size_t>(node.operands[0])] == Place::root) return copy;
  ValueId from = reshape.operands[0];
  Type dense{ValueKind::array, graph.type(from).dtype, graph.type(from).shape, {}};
  return {from, copy.buffer, copy.base, dense_strides(lowering.dims(), dense), true};
}

// `target` for the elements of v, without loops over axes that expand_dims has added to v.
StoreTarget without_new_axes(const Graph& graph, const Placement& placement, StoreTarget target, ValueId v) {
  target.value = under_new_axes(graph, placement.places, v);
  target.copied = target.value != v;
  for (; v != target.value; v = graph.producer(v).operands[0]) {
    const std::vector<int>& axes = graph.producer(v).attrs.axes;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) target.strides.erase(target.strides.begin() + *axis);
  }
  return target;
}

// Writes one nest per operand of a concatenation; each operand's elements follow those of the previous one.
void lower_join(const Graph& graph, const Placement& placement, Lowering& lowering, ValueId v, std::vector<Nest>& nests) {
  DimTable& dims = lowering.dims();
  const Node& node = graph.producer(v);
  StoreTarget target = whole(graph, lowering, v);
  int axis = node.attrs.axes[0];
  Dim stride = target.strides[axis];
  for (ValueId operand : node.operands) {
    nests.push_back(lower_nest(graph, placement, lowering, {without_new_axes(graph, placement, target, operand)}));
    target.base = dims.add(target.base, dims.mul(stride, graph.type(operand).shape[axis]));
  }
}

void lower_group(const Graph& graph, const Placement& placement, Lowering& lowering, const std::vector<ValueId>& group,
                 std::vector<Nest>& nests) {
  const Node& node = graph.producer(group[0]);
  if (op_class(node.op) == OpClass::gufunc) return nests.push_back(lower_gufunc(graph, placement, lowering, node));
  if (node.op == Op::drop_row) return lowering.set_root_buffer(node.results[0], lowering.root_buffer(node.operands[0]));
  if (op_class(node.op) == OpClass::update) {
    if (std::optional<Nest> nest = lower_update(graph, placement, lowering, node)) return nests.push_back(std::move(*nest));
    return lowering.fail_with(fail(Reason::unsupported_call, "a store through a reshape that has no strides"));
  }
  if (op_class(node.op) == OpClass::scan) return nests.push_back(lower_scan(graph, lowering, node));
  if (op_class(node.op) == OpClass::join) return lower_join(graph, placement, lowering, group[0], nests);
  std::vector<StoreTarget> targets;
  for (ValueId v : group) {
    StoreTarget target = whole(graph, lowering, v);
    if (!graph.producer(v).attrs.unread) targets.push_back(std::move(target));
  }
  if (targets.size() == 1) targets[0] = by_own_axes(graph, placement, lowering, targets[0]);
  if (!targets.empty()) nests.push_back(lower_nest(graph, placement, lowering, targets));
}

// Copies outputs that are inputs or repeat an earlier output, so that each output has memory of its own.
void lower_copies(const Graph& graph, const Placement& placement, Lowering& lowering, Program& program) {
  const std::vector<ValueId>& outputs = graph.outputs();
  for (size_t k = 0; k < outputs.size(); ++k) {
    ValueId v = outputs[k];
    bool repeated = std::find(outputs.begin(), outputs.begin() + k, v) != outputs.begin() + k;
    if (!graph.is_input(v) && !repeated) continue;
    const Type& type = graph.type(v);
    BufferId copy =
        program.add_buffer({BufferKind::output, type.dtype, program.dims.product(type.shape), static_cast<int>(k), "copy"});
    StoreTarget target{v, copy, program.dims.constant(0), dense_strides(program.dims, type)};
    program.nests.push_back(lower_nest(graph, placement, lowering, {target}));
  }
}

// Whether a store's nest reads memory that it overwrites at elements other than the one being stored.
bool must_compute_first(const Graph& graph, const Placement& placement, const Program& program, const Node& node) {
  return node.op == Op::store && placement.places[node.operands[2]] != Place::root &&
         !stores_in_place(program.dims, program.nests.back(), program.buffers);
}

void add_locations_of(const Graph& graph, Body& body) {
  for (Stmt& stmt : body) {
    if (stmt.node >= 0) stmt.where = graph.nodes[static_cast<size_t>(stmt.node)].where;
    add_locations_of(graph, stmt.body);
  }
}

}  // namespace

void add_locations(const Graph& graph, Program& program) {
  for (Nest& nest : program.nests) add_locations_of(graph, nest.body);
}

Result<bool> lower_nests(SegmentState& state) {
  const Graph& graph = state.graph;
  const Placement& placement = state.placement;
  Program& program = state.program;
  Lowering lowering(graph, placement, program);
  for (const std::vector<ValueId>& group : group_roots(graph, placement)) {
    const Node& first = graph.producer(group[0]);
    if (state.rows && first.op == Op::store) continue;
    lower_group(graph, placement, lowering, group, program.nests);
    if (!lowering.errors().empty()) return lowering.errors().front();
    if (state.compute_first || state.by_rows || !must_compute_first(graph, placement, program, first)) continue;
    if (!graph.target.has_tiles())
      compute_before_stores(state);
    else
      state.by_rows = state.again = true;
    return true;
  }
  if (state.rows)
    for (Nest& nest : lower_row_stores(graph, placement, lowering, *state.rows)) program.nests.push_back(std::move(nest));
  lower_copies(graph, placement, lowering, program);
  if (!lowering.errors().empty()) return lowering.errors().front();
  add_locations(graph, program);
  if (state.rows)
    state.notes.push_back(state.rows->direct ? "stored row by row"
                                             : "stored row by row, behind the rows that need the old ones");
  return true;
}

}  // namespace accel
