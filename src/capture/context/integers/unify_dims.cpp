#include "capture/context/integers/unify_dims.h"

#include <map>
#include <optional>
#include <vector>

namespace accel {

namespace {

// Equalities between two symbols, and of symbols with constants.
class Equalities {
 public:
  // Also handles sums: s1 - 2 == s0 - 2 relates the two symbols.
  void add(DimTable dims, Dim left, Dim right) {
    Dim difference = dims.sub(left, right);
    std::vector<int> symbols = dims.symbols(difference);
    if (symbols.size() == 2) {
      Dim first = dims.symbol(symbols[0]), second = dims.symbol(symbols[1]);
      if (difference == dims.sub(first, second) || difference == dims.sub(second, first)) left = first, right = second;
    }
    std::optional<int> a = dims.as_symbol(left), b = dims.as_symbol(right);
    if (a && b) return join(root(*a), root(*b));
    if (a && dims.as_constant(right)) constants_[root(*a)] = *dims.as_constant(right);
    if (b && dims.as_constant(left)) constants_[root(*b)] = *dims.as_constant(left);
  }

  bool empty() const { return parents_.empty() && constants_.empty(); }

  std::optional<Dim> replacement(DimTable& dims, int symbol) const {
    int found = root(symbol);
    auto constant = constants_.find(found);
    if (constant != constants_.end()) return dims.constant(constant->second);
    if (found == symbol) return std::nullopt;
    return dims.symbol(found);
  }

 private:
  int root(int symbol) const {
    for (auto it = parents_.find(symbol); it != parents_.end(); it = parents_.find(symbol)) symbol = it->second;
    return symbol;
  }

  // The symbol with the lower number represents both.
  void join(int a, int b) {
    if (a == b) return;
    if (b < a) std::swap(a, b);
    parents_[b] = a;
    auto constant = constants_.find(b);
    if (constant != constants_.end()) constants_[a] = constant->second;
  }

  std::map<int, int> parents_;
  std::map<int, int64_t> constants_;
};

// Records the inequalities that guards check in Graph::known.
void add_inequalities(Graph& graph, const GuardSet& guards) {
  for (const Guard& guard : guards.guards) {
    const auto& [left, comparison, right] = guard.relation;
    if (guard.kind != GuardKind::relation || comparison == Comparison::eq) continue;
    for (Dim sum : implied_sums(graph.dims, left, comparison, right)) graph.known.push_back(sum);
  }
}

}  // namespace

void unify_dims(Graph& graph, const GuardSet& guards) {
  add_inequalities(graph, guards);
  Equalities equalities;
  for (const Guard& guard : guards.guards)
    if (guard.kind == GuardKind::relation && guard.relation.comparison == Comparison::eq)
      equalities.add(guards.dims, guard.relation.left, guard.relation.right);
  if (equalities.empty()) return;
  auto rewrite = [&](std::vector<Dim>& list) {
    for (Dim& d : list) d = graph.dims.substitute(d, [&](int symbol) { return equalities.replacement(graph.dims, symbol); });
  };
  rewrite(graph.known);
  for (Value& value : graph.values) rewrite(value.type.shape);
  for (Input& input : graph.inputs) rewrite(input.strides);
  for (Node& node : graph.nodes) {
    rewrite(node.attrs.dims);
    rewrite(node.attrs.steps);
  }
}

}  // namespace accel
