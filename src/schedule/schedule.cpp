// The stages from a graph to a program: place values in memory, group them into nests, write the loops, add variants.

#include <algorithm>
#include <set>

#include "ir/analysis/flow.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/control_flow.h"
#include "schedule/graph/uninitialised.h"
#include "schedule/loops/fusion.h"
#include "schedule/loops/multiversion.h"
#include "schedule/loops/packing.h"
#include "schedule/loops/row_blocking.h"
#include "schedule/lowering/nests.h"
#include "schedule/lowering/scans.h"
#include "schedule/lowering/sliding_rows.h"
#include "schedule/memory/materialisation.h"
#include "schedule/program/program.h"
#include "schedule/program/store_order.h"

namespace accel {

namespace {

StoreTarget whole(const Graph& graph, Lowering& lowering, ValueId v) {
  return {v, lowering.root_buffer(v), lowering.dims().constant(0), dense_strides(lowering.dims(), graph.type(v))};
}

// The elements of a copy of what is reshaped, in C order, are stored by the axes that they had before.
StoreTarget by_own_axes(const Graph& graph, const Placement& placement, Lowering& lowering, StoreTarget copy) {
  const Node& node = graph.producer(copy.value);
  if (node.op != Op::copy || !graph.type(copy.value).is_c_order() || graph.is_input(node.operands[0])) return copy;
  const Node& reshape = graph.producer(node.operands[0]);
  if (reshape.op != Op::reshape || placement.places[static_cast<size_t>(node.operands[0])] == Place::root) return copy;
  ValueId from = reshape.operands[0];
  Type dense{ValueKind::array, graph.type(from).dtype, graph.type(from).shape, {}};
  return {from, copy.buffer, copy.base, dense_strides(lowering.dims(), dense), true};
}

// The elements of a value, at the target's place, without loops over axes that have been added to it.
StoreTarget without_new_axes(const Graph& graph, const Placement& placement, StoreTarget target, ValueId v) {
  target.value = under_new_axes(graph, placement.places, v);
  target.copied = target.value != v;
  for (; v != target.value; v = graph.producer(v).operands[0]) {
    const std::vector<int>& axes = graph.producer(v).attrs.axes;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) target.strides.erase(target.strides.begin() + *axis);
  }
  return target;
}

// One nest per operand, each stored behind the one before it.
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

// Outputs that are inputs, and outputs that repeat an earlier one, are copies of their own.
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

int symbol_count_of(const Graph& graph) { return static_cast<int>(graph.symbols.size()); }

// Whether a store nest reads what it overwrites elsewhere than at the element it stores.
bool must_compute_first(const Graph& graph, const Placement& placement, const Program& program, const Node& node) {
  return node.op == Op::store && placement.places[node.operands[2]] != Place::root &&
         !stores_in_place(program.dims, program.nests.back(), program.buffers);
}

// Schedules a block in rounds: which values stores need in memory shows when their nests are written.
class BlockScheduler {
 public:
  BlockScheduler(const Graph& graph, std::vector<std::string>* notes) : graph_(graph), notes_(notes) {
    for (NodeId n : graph.entry().nodes)
      if (graph.nodes[static_cast<size_t>(n)].op == Op::store) stores_.push_back(n);
    by_rows_ = stores_.size() > 1;
  }

  Result<Program> run() {
    while (true) {
      again_ = false;
      ACCEL_TRY(Program program, round());
      if (!again_) return program;
    }
  }

 private:
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }

  // All values are computed before the first store.
  void compute_first() {
    by_rows_ = false;
    compute_first_ = again_ = true;
    forced_.clear();
    for (NodeId n : stores_) forced_.insert(node(n).operands[2]);
  }

  // The stores by rows, if that works; otherwise the next round has what is missing.
  std::optional<RowStores> rows(const Placement& placement) {
    std::optional<RowStores> found = row_stores(graph_, stores_, [&](ValueId v) {
      return graph_.is_input(v) || placement.places[static_cast<size_t>(v)] != Place::inlined;
    });
    if (!found || !fits_rows(graph_, placement, *found)) {
      compute_first();
      return std::nullopt;
    }
    if (found->copied.empty()) return found;
    forced_.insert(found->copied.begin(), found->copied.end());
    again_ = true;
    return std::nullopt;
  }

  Result<Program> round() {
    std::vector<std::string> own_notes;
    ACCEL_TRY(Placement placement, place_values(graph_, forced_, &own_notes));
    Program program;
    program.dims = placement.dims;
    program.symbol_count = symbol_count_of(graph_);
    program.output_count = static_cast<int>(graph_.outputs().size());
    std::optional<RowStores> by_rows = by_rows_ ? rows(placement) : std::nullopt;
    if (again_) return program;
    Lowering lowering(graph_, placement, program);
    for (const std::vector<ValueId>& group : group_roots(graph_, placement)) {
      const Node& first = graph_.producer(group[0]);
      if (by_rows && first.op == Op::store) continue;
      lower_group(graph_, placement, lowering, group, program.nests);
      if (!lowering.errors().empty()) return lowering.errors().front();
      if (compute_first_ || by_rows_ || !must_compute_first(graph_, placement, program, first)) continue;
      by_rows_ = again_ = true;
      return program;
    }
    if (by_rows)
      for (Nest& nest : lower_row_stores(graph_, placement, lowering, *by_rows)) program.nests.push_back(std::move(nest));
    lower_copies(graph_, placement, lowering, program);
    if (!lowering.errors().empty()) return lowering.errors().front();
    if (notes_) notes_->insert(notes_->end(), own_notes.begin(), own_notes.end());
    if (notes_ && by_rows)
      notes_->push_back(by_rows->direct ? "stored row by row" : "stored row by row, behind the rows that need the old ones");
    return program;
  }

  const Graph& graph_;
  std::vector<std::string>* notes_;
  std::vector<NodeId> stores_;
  std::set<ValueId> forced_;
  bool by_rows_ = false, compute_first_ = false, again_ = false;
};

}  // namespace

namespace {

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

Result<Program> schedule_block(const Graph& graph, std::vector<std::string>* notes) {
  ACCEL_TRY(Program program, BlockScheduler(graph, notes).run());
  add_locations(graph, program);
  return program;
}

namespace {

// Without stores, all that is read or returned is filled.
Result<Program> schedule_loops(Graph graph, std::vector<std::string>* notes) {
  fill_what_is_read(graph);
  return schedule_block(graph, notes);
}

}  // namespace

Result<Program> schedule(const Graph& graph, std::vector<std::string>* notes) {
  ACCEL_TRY(Program program, has_flow(graph) ? schedule_flow(graph, notes) : schedule_loops(graph, notes));
  program.records_events = graph.records_events;
  join_loops(program);
  run_rows_by_blocks(program, graph.hints, notes);
  add_small_extent_variants(program, graph);
  pack_columns(program, graph.hints, notes);
  return program;
}

}  // namespace accel
