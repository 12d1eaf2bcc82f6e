#include "ir/analysis/verifier.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "ir/analysis/flow.h"
#include "ir/analysis/node_rules.h"

namespace accel {

namespace {

Failure broken(const std::string& what) { return fail(Reason::internal_error, "malformed graph: " + what); }

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Status verify() {
    ACCEL_TRY([[maybe_unused]] Unit entry, check_entry());
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      std::string what = type_error(graph_, graph_.values[v].type);
      if (!what.empty()) return broken("value " + std::to_string(v) + ": " + what);
    }
    bindings_ = bound_symbols(graph_);
    ACCEL_TRY([[maybe_unused]] Unit targets, check_targets());
    dominance_.emplace(graph_);
    ACCEL_TRY([[maybe_unused]] Unit exits, check_exits_and_bindings());
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      ACCEL_TRY([[maybe_unused]] Unit block, check_block(static_cast<BlockId>(b)));
      ACCEL_TRY([[maybe_unused]] Unit symbols, check_symbols(static_cast<BlockId>(b)));
    }
    return Unit{};
  }

 private:
  Status check_entry() {
    if (graph_.blocks.empty()) return broken("no entry block");
    if (graph_.inputs.size() != graph_.entry().params.size()) return broken("inputs and entry parameters differ in number");
    if (graph_.symbols.size() != graph_.hints.size()) return broken("symbols and hints differ in number");
    for (size_t k = 0; k < graph_.inputs.size(); ++k) {
      ValueId v = graph_.entry().params[k];
      if (!is_value(v)) return broken("input " + std::to_string(k) + " is not a value");
      std::string what = input_error(graph_, graph_.inputs[k], graph_.type(v));
      if (!what.empty()) return broken("input " + std::to_string(k) + ": " + what);
    }
    return Unit{};
  }

  // Jumps go to blocks, with arguments of the parameters' types.
  Status check_targets() {
    for (const Block& block : graph_.blocks) {
      const Terminator& t = block.terminator;
      for (int k = 0; k < target_count(t); ++k) {
        if (t.targets[k] <= 0 || static_cast<size_t>(t.targets[k]) >= graph_.blocks.size()) return broken("jump to no block");
        const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(t.targets[k])].params;
        if (params.size() != t.target_arguments[k].size()) return broken("arguments and parameters differ in number");
        for (size_t i = 0; i < params.size(); ++i) {
          if (!is_value(params[i]) || !is_value(t.target_arguments[k][i])) return broken("an argument is not a value");
          if (!passes(t.target_arguments[k][i], params[i], t.targets[k]))
            return broken("argument and parameter differ in type");
        }
      }
    }
    return Unit{};
  }

  // Extents that the target block binds are whatever the argument has.
  bool passes(ValueId argument, ValueId param, BlockId target) const {
    Type given = graph_.type(argument);
    const Type& wanted = graph_.type(param);
    if (given.rank() != wanted.rank()) return false;
    for (size_t k = 0; k < given.shape.size(); ++k) {
      if (names_bound_in(wanted.shape[k], target)) given.shape[k] = wanted.shape[k];
    }
    return given == wanted;
  }

  bool names_bound_in(Dim d, BlockId block) const {
    std::vector<int> symbols = graph_.dims.symbols(d);
    return std::any_of(symbols.begin(), symbols.end(), [&](int symbol) {
      auto found = bindings_.find(symbol);
      return found != bindings_.end() && found->second.block == block;
    });
  }

  // Every symbol is bound once; exits of one number have outputs of equal types; exits are numbered densely.
  Status check_exits_and_bindings() {
    std::map<int, std::vector<Type>> exits = graph_.closed_exits;
    for (const Block& block : graph_.blocks) {
      for (NodeId n : block.nodes) {
        if (n < 0 || static_cast<size_t>(n) >= graph_.nodes.size() || graph_.nodes[static_cast<size_t>(n)].op != Op::bind)
          continue;
        auto found = bindings_.find(graph_.dims.as_symbol(graph_.nodes[static_cast<size_t>(n)].attrs.dims.at(0)).value_or(-1));
        if (found != bindings_.end() && found->second.node != n) return broken("a symbol is bound twice");
      }
      if (!is_exit(block.terminator)) continue;
      std::vector<Type> types;
      for (ValueId v : block.terminator.operands) {
        if (!is_value(v)) return broken("an exit hands over no value");
        types.push_back(graph_.type(v));
      }
      auto [it, is_new] = exits.emplace(exit_number(block.terminator), types);
      if (!is_new && it->second != types) return broken("an exit is left with different types");
    }
    for (const Block& block : graph_.blocks) {
      if (is_exit(block.terminator) || block.terminator.poll == 0) continue;
      auto closed = graph_.closed_exits.find(block.terminator.poll);
      if (closed == graph_.closed_exits.end() || !closed->second.empty()) return broken("a poll whose exit is none of its own");
    }
    if (!exits.empty() && (exits.begin()->first < 0 || exits.rbegin()->first > static_cast<int>(exits.size())))
      return broken("exits are not numbered densely");
    return Unit{};
  }

  // Whether the symbols of d have values at position `at` of a block.
  bool is_bound(Dim d, BlockId block, size_t at) const {
    for (int symbol : graph_.dims.symbols(d)) {
      auto found = bindings_.find(symbol);
      if (found == bindings_.end()) continue;
      const SymbolBinding& binding = found->second;
      if (binding.block != block && !dominance_->dominates(binding.block, block)) return false;
      if (binding.block != block) continue;
      const std::vector<NodeId>& nodes = graph_.blocks[static_cast<size_t>(block)].nodes;
      auto position = std::find(nodes.begin(), nodes.end(), binding.node);
      if (static_cast<size_t>(position - nodes.begin()) >= at) return false;
    }
    return true;
  }

  bool are_bound(const std::vector<Dim>& dims, BlockId block, size_t at) const {
    return std::all_of(dims.begin(), dims.end(), [&](Dim d) { return is_bound(d, block, at); });
  }

  Status check_symbols(BlockId id) {
    const Block& block = graph_.blocks[static_cast<size_t>(id)];
    for (ValueId v : block.params) {
      if (!are_bound(graph_.type(v).shape, id, block.nodes.size()))
        return broken("a parameter's shape has a symbol without a value");
    }
    for (size_t k = 0; k < block.nodes.size(); ++k) {
      const Node& node = graph_.nodes[static_cast<size_t>(block.nodes[k])];
      bool good = node.op == Op::bind || (are_bound(node.attrs.dims, id, k) && are_bound(node.attrs.steps, id, k));
      for (ValueId v : node.results) good = good && are_bound(graph_.type(v).shape, id, k);
      if (!good) return broken(std::string(op_info(node.op).name) + ": a symbol has no value here");
    }
    return Unit{};
  }

  Status check_block(BlockId id) {
    const Block& block = graph_.blocks[static_cast<size_t>(id)];
    defined_here_.assign(graph_.values.size(), false);
    for (ValueId v : block.params) {
      if (!is_value(v) || graph_.values[static_cast<size_t>(v)].producer != -1)
        return broken("a block parameter has a producer");
      if (graph_.values[static_cast<size_t>(v)].block != id) return broken("a block parameter belongs to another block");
      defined_here_[static_cast<size_t>(v)] = true;
    }
    for (NodeId n : block.nodes) {
      if (n < 0 || static_cast<size_t>(n) >= graph_.nodes.size()) return broken("a block holds no node");
      ACCEL_TRY([[maybe_unused]] Unit node, check_node(id, n));
    }
    return check_terminator(id, block.terminator);
  }

  Status check_node(BlockId block, NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    std::string where = std::string(op_info(node.op).name) + " (node " + std::to_string(id) + "): ";
    for (ValueId v : node.operands) {
      if (!is_available(v, block)) return broken(where + "an operand is not defined here");
    }
    if (static_cast<int>(node.results.size()) != op_info(node.op).results) return broken(where + "wrong number of results");
    for (ValueId v : node.results) {
      if (!is_value(v) || graph_.values[static_cast<size_t>(v)].producer != id)
        return broken(where + "a result has another producer");
      if (graph_.values[static_cast<size_t>(v)].block != block) return broken(where + "a result belongs to another block");
      defined_here_[static_cast<size_t>(v)] = true;
    }
    std::string what = node_error(graph_, node);
    if (!what.empty()) return broken(where + what);
    return Unit{};
  }

  Status check_terminator(BlockId block, const Terminator& t) {
    for (const auto* uses : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]}) {
      for (ValueId v : *uses) {
        if (!is_available(v, block)) return broken("a terminator uses a value that is not defined there");
      }
    }
    if (t.kind != TerminatorKind::branch) return Unit{};
    if (t.operands.size() != 1) return broken("a branch has one condition");
    const Type& condition = graph_.type(t.operands[0]);
    if (condition.dtype != DType::bool_ || condition.rank() != 0)
      return broken("the condition of a branch is a bool of rank 0");
    return Unit{};
  }

  bool is_value(ValueId v) const { return v >= 0 && static_cast<size_t>(v) < graph_.values.size(); }

  bool is_available(ValueId v, BlockId here) const {
    if (!is_value(v)) return false;
    const Value& value = graph_.values[static_cast<size_t>(v)];
    if (value.block == here) return defined_here_[static_cast<size_t>(v)];
    if (!dominance_->dominates(value.block, here)) return false;
    const Block& home = graph_.blocks[static_cast<size_t>(value.block)];
    if (value.producer >= 0) return std::find(home.nodes.begin(), home.nodes.end(), value.producer) != home.nodes.end();
    return std::find(home.params.begin(), home.params.end(), v) != home.params.end();
  }

  const Graph& graph_;
  std::optional<Dominance> dominance_;
  std::map<int, SymbolBinding> bindings_;
  std::vector<bool> defined_here_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).verify(); }

}  // namespace accel
