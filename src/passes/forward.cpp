// Store-to-load forwarding: a view of what a store has just written is the stored value. Where that is an array that has memory
// in any case, copies and stores of the view's elements read it instead. Arithmetic still reads the view, as NumPy's bits may
// depend on strides.

#include <algorithm>
#include <optional>

#include "ir/analysis/flow.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

class Forwarding {
 public:
  explicit Forwarding(Graph& graph)
      : graph_(graph), origins_(pinned_inputs(graph)), users_(graph.values.size()), handed_on_(graph.values.size(), false) {
    for (const Block& block : graph.blocks) {
      for (NodeId n : block.nodes)
        for (ValueId v : graph.nodes[static_cast<size_t>(n)].operands) users_[static_cast<size_t>(v)].push_back(n);
      for (const auto* list :
           {&block.terminator.operands, &block.terminator.target_arguments[0], &block.terminator.target_arguments[1]})
        for (ValueId v : *list) handed_on_[static_cast<size_t>(v)] = true;
    }
  }

  bool run() {
    std::vector<ValueId> replacement = no_replacement(graph_);
    bool changed = false;
    for (const Block& block : graph_.blocks)
      for (NodeId n : block.nodes) {
        ValueId v = graph_.nodes[static_cast<size_t>(n)].results[0];
        std::optional<ValueId> stored = stored_value(v);
        if (!stored || !is_only_moved(v)) continue;
        replacement[static_cast<size_t>(v)] = *stored;
        changed = true;
      }
    if (changed) replace_uses(graph_, replacement);
    return changed;
  }

 private:
  // The array that the last store wrote to the elements of v, a view.
  std::optional<ValueId> stored_value(ValueId v) const {
    if (!is_view(graph_, v) || graph_.type(v).rank() == 0) return std::nullopt;
    ValueId base = v;
    while (is_view(graph_, base)) base = graph_.producer(base).operands[0];
    if (graph_.is_input(base)) return std::nullopt;
    const Node& store = graph_.producer(base);
    if (store.op != Op::store || store.operands.size() != 3) return std::nullopt;
    if (!is_same_view(graph_, v, base, store.operands[1], store.operands[0])) return std::nullopt;
    ValueId value = store.operands[2];
    while (!graph_.is_input(value) && graph_.producer(value).op == Op::copy) value = graph_.producer(value).operands[0];
    bool has_memory = graph_.is_input(value) && origins_[static_cast<size_t>(value)] == not_pinned;
    return has_memory && graph_.type(value) == graph_.type(v) ? std::optional(value) : std::nullopt;
  }

  // Whether the elements of v are copied and stored, and nothing else is done with them.
  bool is_only_moved(ValueId v) const {
    if (handed_on_[static_cast<size_t>(v)]) return false;
    const std::vector<NodeId>& users = users_[static_cast<size_t>(v)];
    return std::all_of(users.begin(), users.end(), [&](NodeId n) {
      const Node& user = graph_.nodes[static_cast<size_t>(n)];
      if (user.op == Op::copy) return true;
      if (user.op == Op::store) return user.operands.size() == 3 && user.operands[0] != v && user.operands[1] != v;
      return op_class(user.op) == OpClass::view && is_only_moved(user.results[0]);
    });
  }

  Graph& graph_;
  std::vector<int> origins_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> handed_on_;
};

}  // namespace

bool forward(Graph& graph) { return graph.blocks.size() > 1 && Forwarding(graph).run(); }

}  // namespace accel
