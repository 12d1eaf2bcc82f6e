#include "ir/verifier.h"

#include <algorithm>
#include <string>

#include "ir/node_rules.h"

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
    ACCEL_TRY([[maybe_unused]] Unit targets, check_targets());
    find_dominators();
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      ACCEL_TRY([[maybe_unused]] Unit block, check_block(static_cast<BlockId>(b)));
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
      int count = t.kind == TerminatorKind::ret ? 0 : t.kind == TerminatorKind::jump ? 1 : 2;
      for (int k = 0; k < count; ++k) {
        if (t.targets[k] <= 0 || static_cast<size_t>(t.targets[k]) >= graph_.blocks.size()) return broken("jump to no block");
        const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(t.targets[k])].params;
        if (params.size() != t.target_arguments[k].size()) return broken("arguments and parameters differ in number");
        for (size_t i = 0; i < params.size(); ++i) {
          if (!is_value(params[i]) || !is_value(t.target_arguments[k][i])) return broken("an argument is not a value");
          if (graph_.type(params[i]) != graph_.type(t.target_arguments[k][i]))
            return broken("argument and parameter differ in type");
        }
      }
    }
    return Unit{};
  }

  // dominates_[b][a]: every path from the entry to b goes through a. Unreachable blocks are dominated by all.
  void find_dominators() {
    size_t n = graph_.blocks.size();
    dominates_.assign(n, std::vector<bool>(n, true));
    dominates_[0].assign(n, false);
    dominates_[0][0] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t from = 0; from < n; ++from) {
        const Terminator& t = graph_.blocks[from].terminator;
        int count = t.kind == TerminatorKind::ret ? 0 : t.kind == TerminatorKind::jump ? 1 : 2;
        for (int k = 0; k < count; ++k) changed |= meet(from, static_cast<size_t>(t.targets[k]));
      }
    }
  }

  bool meet(size_t from, size_t to) {
    bool changed = false;
    for (size_t a = 0; a < dominates_.size(); ++a) {
      if (a == to || !dominates_[to][a] || dominates_[from][a]) continue;
      dominates_[to][a] = false;
      changed = true;
    }
    return changed;
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
    if (!dominates_[static_cast<size_t>(here)][static_cast<size_t>(value.block)]) return false;
    const Block& home = graph_.blocks[static_cast<size_t>(value.block)];
    if (value.producer >= 0) return std::find(home.nodes.begin(), home.nodes.end(), value.producer) != home.nodes.end();
    return std::find(home.params.begin(), home.params.end(), v) != home.params.end();
  }

  const Graph& graph_;
  std::vector<std::vector<bool>> dominates_;
  std::vector<bool> defined_here_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).verify(); }

}  // namespace accel
