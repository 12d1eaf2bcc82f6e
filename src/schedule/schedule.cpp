// The stages from a graph to a program: place values in memory, group them into nests, write the loops, add variants.

#include <algorithm>
#include <set>

#include "ir/flow.h"
#include "schedule/access.h"
#include "schedule/flow.h"
#include "schedule/in_place.h"
#include "schedule/nests.h"
#include "schedule/placement.h"
#include "schedule/program.h"
#include "schedule/scans.h"
#include "schedule/variants.h"

namespace accel {

namespace {

StoreTarget whole(const Graph& graph, Lowering& lowering, ValueId v) {
  return {v, lowering.root_buffer(v), lowering.dims().constant(0), dense_strides(lowering.dims(), graph.type(v))};
}

// One nest per operand, each stored behind the one before it.
void lower_join(const Graph& graph, const Placement& placement, Lowering& lowering, ValueId v, std::vector<Nest>& nests) {
  DimTable& dims = lowering.dims();
  const Node& node = graph.producer(v);
  StoreTarget target = whole(graph, lowering, v);
  int axis = node.attrs.axes[0];
  Dim stride = target.strides[axis];
  for (ValueId operand : node.operands) {
    target.value = operand;
    nests.push_back(lower_nest(graph, placement, lowering, {target}));
    target.base = dims.add(target.base, dims.mul(stride, graph.type(operand).shape[axis]));
  }
}

void lower_group(const Graph& graph, const Placement& placement, Lowering& lowering, const std::vector<ValueId>& group,
                 std::vector<Nest>& nests) {
  const Node& node = graph.producer(group[0]);
  if (op_class(node.op) == OpClass::gufunc) return nests.push_back(lower_gufunc(graph, placement, lowering, node));
  if (op_class(node.op) == OpClass::update) {
    if (std::optional<Nest> nest = lower_update(graph, placement, lowering, node)) return nests.push_back(std::move(*nest));
    return lowering.fail_with(fail(Reason::unsupported_call, "a store through a reshape that has no strides"));
  }
  if (op_class(node.op) == OpClass::scan) return nests.push_back(lower_scan(graph, lowering, node));
  if (op_class(node.op) == OpClass::join) return lower_join(graph, placement, lowering, group[0], nests);
  std::vector<StoreTarget> targets;
  for (ValueId v : group) targets.push_back(whole(graph, lowering, v));
  nests.push_back(lower_nest(graph, placement, lowering, targets));
}

// Outputs that are inputs, and outputs that repeat an earlier one, are copies of their own.
void lower_copies(const Graph& graph, const Placement& placement, Lowering& lowering, Program& program) {
  const std::vector<ValueId>& outputs = graph.outputs();
  for (size_t k = 0; k < outputs.size(); ++k) {
    ValueId v = outputs[k];
    bool repeated = std::find(outputs.begin(), outputs.begin() + k, v) != outputs.begin() + k;
    if (!graph.is_input(v) && !repeated) continue;
    const Type& type = graph.type(v);
    program.buffers.push_back({BufferKind::output, type.dtype, program.dims.product(type.shape), static_cast<int>(k), "copy"});
    StoreTarget target{v, static_cast<BufferId>(program.buffers.size()) - 1, program.dims.constant(0),
                       dense_strides(program.dims, type)};
    program.nests.push_back(lower_nest(graph, placement, lowering, {target}));
  }
}

int symbol_count_of(const Graph& graph) { return static_cast<int>(graph.symbols.size()); }

// Whether a store nest reads what it overwrites elsewhere than at the element it stores.
bool must_compute_first(const Graph& graph, const Placement& placement, const Program& program, const Node& node) {
  return node.op == Op::store && placement.places[node.operands[2]] != Place::root &&
         !stores_in_place(program.dims, program.nests.back(), program.buffers);
}

}  // namespace

Result<Program> schedule_block(const Graph& graph, std::vector<std::string>* notes) {
  std::set<ValueId> forced;
  for (int round = 0;; ++round) {
    std::vector<std::string> own_notes;
    ACCEL_TRY(Placement placement, place_values(graph, forced, &own_notes));
    Program program;
    program.dims = placement.dims;
    program.symbol_count = symbol_count_of(graph);
    program.output_count = static_cast<int>(graph.outputs().size());
    Lowering lowering(graph, placement, program);
    bool again = false;
    for (const std::vector<ValueId>& group : group_roots(graph, placement)) {
      lower_group(graph, placement, lowering, group, program.nests);
      if (!lowering.errors().empty()) return lowering.errors().front();
      if (round == 0 && must_compute_first(graph, placement, program, graph.producer(group[0]))) {
        forced.insert(graph.producer(group[0]).operands[2]);
        again = true;
      }
    }
    if (again) continue;
    lower_copies(graph, placement, lowering, program);
    if (!lowering.errors().empty()) return lowering.errors().front();
    if (notes) notes->insert(notes->end(), own_notes.begin(), own_notes.end());
    return program;
  }
}

Result<Program> schedule(const Graph& graph, std::vector<std::string>* notes) {
  ACCEL_TRY(Program program, has_flow(graph) ? schedule_flow(graph, notes) : schedule_block(graph, notes));
  add_small_extent_variant(program, graph);
  return program;
}

}  // namespace accel
