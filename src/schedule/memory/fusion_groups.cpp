#include "schedule/memory/fusion_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "schedule/analysis/index_maps.h"

namespace accel {

namespace {

// Finds the roots that a root reads, and whether it reads each only at its own index.
class Reads {
 public:
  Reads(const Graph& graph, const Placement& placement) : graph_(graph), placement_(placement), dims_(graph.dims) {}

  std::map<ValueId, bool> of(ValueId root) {
    found_.clear();
    seen_.clear();
    own_ = first_of(own_axes_, graph_.type(root).rank());
    producer(root, own_);
    return found_;
  }

 private:
  void visit(ValueId v, const Index& index) {
    if (graph_.is_input(v)) return;
    if (placement_.places[v] == Place::root) {
      auto [it, is_new] = found_.try_emplace(v, true);
      it->second = it->second && index == own_;
      return;
    }
    std::vector<int32_t> key{v};
    for (Dim d : index) key.push_back(d.id);
    if (seen_.insert(key).second) producer(v, index);
  }

  void producer(ValueId v, const Index& index) {
    const Node& node = graph_.producer(v);
    for (ValueId operand : node.operands) {
      OpClass kind = op_class(node.op);
      if (kind == OpClass::gather && operand != node.operands[0]) {
        visit(operand, Index(index.begin(), index.begin() + graph_.type(operand).rank()));
      } else if (kind == OpClass::view && node.op != Op::real && node.op != Op::imag) {
        visit(operand, map_view_index(dims_, graph_, node, index));
      } else if (kind == OpClass::pointwise || kind == OpClass::view) {
        visit(operand, graph_.type(operand).rank() == 0 ? Index{} : index);
      } else {
        visit(operand, first_of(other_axes_, graph_.type(operand).rank()));
      }
    }
  }

  // The first `rank` variables of a list, which is extended as needed.
  Index first_of(Index& axes, int rank) {
    while (static_cast<int>(axes.size()) < rank) axes.push_back(dims_.new_variable());
    return {axes.begin(), axes.begin() + rank};
  }

  const Graph& graph_;
  const Placement& placement_;
  DimTable dims_;
  std::map<ValueId, bool> found_;
  std::set<std::vector<int32_t>> seen_;
  Index own_, own_axes_, other_axes_;
};

bool stands_alone(const Graph& graph, ValueId v) {
  OpClass kind = op_class(graph.producer(v).op);
  return kind == OpClass::join || kind == OpClass::gufunc || kind == OpClass::update || kind == OpClass::scan;
}

}  // namespace

std::vector<std::vector<ValueId>> group_roots(const Graph& graph, const Placement& placement) {
  std::vector<std::vector<ValueId>> groups;
  std::map<ValueId, size_t> group_of;
  Reads reads(graph, placement);
  for (ValueId root : placement.roots) {
    size_t first = 0;
    for (auto [read, at_own_index] : reads.of(root)) {
      size_t group = group_of.at(read);
      first = std::max(first, at_own_index && !stands_alone(graph, read) ? group : group + 1);
    }
    size_t chosen = groups.size();
    for (size_t k = groups.size(); k-- > first;) {
      const Type& type = graph.type(groups[k][0]);
      bool fits = !stands_alone(graph, root) && !stands_alone(graph, groups[k][0]) && type.shape == graph.type(root).shape &&
                  type.axis_order() == graph.type(root).axis_order();
      if (fits) chosen = k;
    }
    if (chosen == groups.size()) groups.emplace_back();
    groups[chosen].push_back(root);
    group_of[root] = chosen;
    // Both results of a node are computed together: the second one finds the first in memory or in the memo.
  }
  return groups;
}

}  // namespace accel
