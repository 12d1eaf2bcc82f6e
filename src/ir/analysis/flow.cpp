#include "ir/analysis/flow.h"

#include <algorithm>
#include <set>

namespace accel {

bool has_flow(const Graph& graph) {
  if (graph.blocks.size() > 1) return true;
  return std::any_of(graph.entry().nodes.begin(), graph.entry().nodes.end(), [&](NodeId n) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    return op_class(node.op) == OpClass::update || op_class(node.op) == OpClass::boxed || node.op == Op::bind;
  });
}

std::vector<std::vector<BlockId>> predecessors(const Graph& graph) {
  std::vector<std::vector<BlockId>> out(graph.blocks.size());
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    const Terminator& t = graph.blocks[b].terminator;
    for (int k = 0; k < target_count(t); ++k) out[static_cast<size_t>(t.targets[k])].push_back(static_cast<BlockId>(b));
  }
  return out;
}

Dominance::Dominance(const Graph& graph) {
  size_t n = graph.blocks.size();
  rows_.assign(n, std::vector<bool>(n, true));
  rows_[0].assign(n, false);
  rows_[0][0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t from = 0; from < n; ++from) {
      const Terminator& t = graph.blocks[from].terminator;
      for (int k = 0; k < target_count(t); ++k) {
        size_t to = static_cast<size_t>(t.targets[k]);
        for (size_t a = 0; a < n; ++a) {
          if (a == to || !rows_[to][a] || rows_[from][a]) continue;
          rows_[to][a] = false;
          changed = true;
        }
      }
    }
  }
}

std::vector<ExitOutputs> exits_of(const Graph& graph) {
  std::vector<ExitOutputs> out(1);
  auto types_of = [&](int exit) -> std::vector<Type>& {
    size_t number = static_cast<size_t>(exit);
    if (number >= out.size()) out.resize(number + 1);
    return out[number].types;
  };
  for (const auto& [exit, types] : graph.closed_exits) types_of(exit) = types;
  for (const Block& block : graph.blocks) {
    if (!is_exit(block.terminator)) continue;
    std::vector<Type>& types = types_of(exit_number(block.terminator));
    types.clear();
    for (ValueId v : block.terminator.operands) types.push_back(graph.type(v));
  }
  for (size_t e = 1; e < out.size(); ++e)
    out[e].first_output = out[e - 1].first_output + static_cast<int>(out[e - 1].types.size());
  return out;
}

std::map<int, SymbolBinding> bound_symbols(const Graph& graph) {
  std::map<int, SymbolBinding> out;
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    for (NodeId n : graph.blocks[b].nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      if (node.op == Op::bind && node.attrs.dims.size() == 1)
        if (auto symbol = graph.dims.as_symbol(node.attrs.dims[0])) out[*symbol] = {static_cast<BlockId>(b), n};
    }
  }
  return out;
}

namespace {

constexpr int unknown_origin = -3;

int meet(int a, int b) {
  if (a == unknown_origin) return b;
  if (b == unknown_origin || a == b) return a;
  return mixed_origin;
}

}  // namespace

std::vector<int> pinned_inputs(const Graph& graph) {
  std::vector<int> origin(graph.values.size(), unknown_origin);
  const auto& inputs = graph.entry().params;
  for (size_t k = 0; k < inputs.size(); ++k) {
    bool is_array = graph.type(inputs[k]).kind == ValueKind::array;
    origin[static_cast<size_t>(inputs[k])] = is_array ? static_cast<int>(k) : not_pinned;
  }
  for (bool changed = true; changed;) {
    changed = false;
    auto set = [&](ValueId v, int to) {
      int& now = origin[static_cast<size_t>(v)];
      changed |= now != to;
      now = to;
    };
    for (const Block& block : graph.blocks) {
      for (NodeId n : block.nodes) {
        const Node& node = graph.nodes[static_cast<size_t>(n)];
        bool update = op_class(node.op) == OpClass::update;
        for (ValueId v : node.results) set(v, update ? origin[static_cast<size_t>(node.operands[0])] : not_pinned);
      }
      for (int k = 0; k < target_count(block.terminator); ++k) {
        const auto& params = graph.blocks[static_cast<size_t>(block.terminator.targets[k])].params;
        for (size_t i = 0; i < params.size(); ++i) {
          int from = origin[static_cast<size_t>(block.terminator.target_arguments[k][i])];
          set(params[i], meet(origin[static_cast<size_t>(params[i])], from));
        }
      }
    }
  }
  for (int& o : origin)
    if (o == unknown_origin) o = not_pinned;
  return origin;
}

std::vector<int> written_inputs(const Graph& graph) {
  std::vector<int> origin = pinned_inputs(graph);
  std::set<int> out;
  for (const Block& block : graph.blocks) {
    for (NodeId n : block.nodes) {
      const Node& node = graph.nodes[static_cast<size_t>(n)];
      if (op_class(node.op) != OpClass::update) continue;
      int from = origin[static_cast<size_t>(node.operands[0])];
      if (from >= 0) out.insert(from);
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace accel
