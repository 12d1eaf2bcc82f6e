#include "schedule/memory/required_memory.h"

#include <algorithm>

#include "schedule/analysis/coalesce.h"
#include "schedule/analysis/index_maps.h"

namespace accel {

namespace {

class RequiredMemory {
 public:
  explicit RequiredMemory(PlacementDraft& draft) : draft_(draft), graph_(draft.graph), dims_(draft.placement.dims) {}

  void run(const std::set<ValueId>& forced) {
    for (ValueId v : graph_.outputs()) draft_.make_root(v, "result");
    for (ValueId v : forced) draft_.make_root(v, "a store overwrites what it needs");
    std::vector<int> uses = graph_.use_counts();
    for (NodeId n : graph_.entry().nodes) {
      const Node& node = graph_.nodes[n];
      OpClass kind = op_class(node.op);
      if (node.op == Op::slice || (node.op == Op::reshape && !trivial_reshape(node)))
        draft_.make_root(draft_.computed_below(node.operands[0]), "read through a slice or reshape");
      if (kind == OpClass::gather) place_gathered(node.operands[0]);
      if (kind == OpClass::join) draft_.make_root(node.results[0], "joined");
      if (kind == OpClass::update) place_update(node);
      if (kind == OpClass::scan) {
        draft_.make_root(node.results[0], "computed one after the other");
        draft_.make_root(draft_.computed_below(node.operands[0]), "walked one after the other");
      }
      if (kind == OpClass::gufunc) {
        draft_.make_root(node.results[0], "result of a library call");
        for (ValueId operand : node.operands) {
          draft_.make_root(draft_.computed_below(operand), "operand of a library call");
          draft_.read_with_strides(operand);
          if (is_number_below(operand) || !strided_view(dims_, graph_, draft_.placement.places, operand))
            draft_.make_root(operand, "operand of a library call without strides");
        }
      }
      bool used = std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return uses[v] > 0; });
      if (!used && node_events(graph_, node) != 0) draft_.make_root(node.results[0], "kept for its floating-point events");
    }
  }

 private:
  // Whether the value is a view of a scalar input, which is not in memory.
  bool is_number_below(ValueId v) const {
    const ValueId base = located_base(graph_, draft_.placement.places, v);
    return base != no_value && base != v && graph_.is_input(base) &&
           graph_.inputs[static_cast<size_t>(graph_.input_index(base))].slot >= 0;
  }

  void place_update(const Node& node) {
    draft_.make_root(node.results[0], "a store");
    draft_.make_root(draft_.computed_below(node.operands[0]), "stored to");
    if (node.op == Op::put || node.op == Op::update_at)
      for (size_t k = 1; k < node.operands.size(); ++k) draft_.make_root(node.operands[k], "stored at run-time indices");
  }

  // Gathers read from memory with strides, so the base must have both.
  void place_gathered(ValueId base) {
    draft_.make_root(draft_.computed_below(base), "read at run-time indices");
    draft_.read_with_strides(base);
    if (!strided_view(dims_, graph_, draft_.placement.places, base)) draft_.make_root(base, "read at run-time indices");
  }

  bool trivial_reshape(const Node& node) const {
    return same_axes(graph_.dims, graph_.type(node.operands[0]), graph_.type(node.results[0])).has_value();
  }

  PlacementDraft& draft_;
  const Graph& graph_;
  DimTable& dims_;
};

}  // namespace

void place_required(PlacementDraft& draft, const std::set<ValueId>& forced) { RequiredMemory(draft).run(forced); }

}  // namespace accel
