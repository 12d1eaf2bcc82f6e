// Trivial parameters: block parameters to which all edges give one value become that value.

#include <algorithm>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Parameters {
 public:
  explicit Parameters(Graph& graph) : graph_(graph), replacement_(no_replacement(graph)) {}

  bool run() {
    bool changed = false;
    for (bool again = true; again;) {
      again = false;
      for (size_t b = 1; b < graph_.blocks.size(); ++b)
        for (size_t k = graph_.blocks[b].params.size(); k-- > 0;) again |= replace(b, k);
      changed |= again;
    }
    if (changed) replace_uses(graph_, replacement_);
    return changed;
  }

 private:
  ValueId now(ValueId v) const {
    while (replacement_[static_cast<size_t>(v)] != v) v = replacement_[static_cast<size_t>(v)];
    return v;
  }

  // Calls act(arguments) for each edge to block b.
  template <class Act>
  void for_each_edge(size_t b, Act act) const {
    for (const Block& from : graph_.blocks)
      for (int k = 0; k < target_count(from.terminator); ++k)
        if (from.terminator.targets[k] == static_cast<BlockId>(b)) act(from.terminator.target_arguments[k]);
  }

  bool is_constant(ValueId v) const { return !graph_.is_input(v) && graph_.producer(v).op == Op::constant; }
  bool same_constant(ValueId a, ValueId b) const {
    return is_constant(a) && is_constant(b) && graph_.type(a) == graph_.type(b) &&
           graph_.producer(a).attrs == graph_.producer(b).attrs;
  }

  bool replace(size_t b, size_t k) {
    ValueId param = graph_.blocks[b].params[k], same = no_value;
    bool one = true, equal = true;
    for_each_edge(b, [&](const std::vector<ValueId>& arguments) {
      ValueId v = now(arguments[k]);
      if (v == param) return;
      if (same == no_value) same = v;
      one = one && v == same;
      equal = equal && (v == same || same_constant(v, same));
    });
    if (same == no_value || !equal || graph_.type(same) != graph_.type(param)) return false;
    if (!one) same = constant_in(b, same);
    replacement_[static_cast<size_t>(param)] = same;
    remove_param(graph_, static_cast<BlockId>(b), k);
    return true;
  }

  ValueId constant_in(size_t b, ValueId like) {
    Node node = graph_.producer(like);
    ValueId made = graph_.add_node(static_cast<BlockId>(b), Op::constant, {}, node.attrs, {graph_.type(like)}, node.where);
    auto& nodes = graph_.blocks[b].nodes;
    std::rotate(nodes.begin(), nodes.end() - 1, nodes.end());
    replacement_.push_back(made);
    return made;
  }

  Graph& graph_;
  std::vector<ValueId> replacement_;
};

}  // namespace

bool parameters(Graph& graph) { return graph.blocks.size() > 1 && Parameters(graph).run(); }

}  // namespace accel
