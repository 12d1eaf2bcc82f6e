#pragma once
// Integers: what the branches of a graph imply about its integers at each position, as sums that are >= 0 there.
//
// Python's integers are exact: captured code leaves before one that does not fit is used.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/analysis/flow.h"
#include "ir/integers/linear.h"

namespace accel {

class Integers {
 public:
  explicit Integers(const Graph& graph);

  // A value as a sum: of itself where it is neither a sum nor known.
  const Linear& linear(ValueId v);
  Linear linear(Dim d) { return sum_of(d); }
  // A copy of the graph's table: dims made in it may be given to linear().
  DimTable& dims() { return dims_; }
  // Sums that are >= 0 where a condition has the value `holds`; not all of them are found.
  std::vector<Linear> implied_by(ValueId condition, bool holds);
  // Sums that are all >= 0 only where a condition has the value `holds`; nullopt: unknown.
  std::optional<std::vector<Linear>> needed_for(ValueId condition, bool holds);

  // The block parameter that a key stands for; no_value: the number is no parameter.
  ValueId param_of(Linear::Key key) const;
  // Whether a number has its value before a block begins.
  bool is_known_before(Linear::Key key, BlockId block) const;

  // A sum that is taken to be >= 0 wherever a block begins.
  void assume(BlockId block, const Linear& sum) { assumed_[static_cast<size_t>(block)].insert(sum); }
  void forget(BlockId block, const Linear& sum) { assumed_[static_cast<size_t>(block)].erase(sum); }

  // Sums that are >= 0 at the end of a block or, with edge >= 0, on its edge of that number.
  std::vector<Linear> facts_at(BlockId block, int edge);
  // Whether a sum is >= 0 at the end of a block or, with edge >= 0, on its edge of that number. Sums that would prove it, and
  // that are not known to be >= 0, are added to `open`.
  bool prove(const Linear& sum, BlockId block, int edge = -1, std::set<Linear>* open = nullptr);

 private:
  struct Range {
    std::optional<int64_t> low, high;
  };
  // The lowest or the highest of several.
  struct Extreme {
    bool is_lowest = true;
    std::vector<Linear> of;
  };

  void note_length(Linear::Key key, bool has_memory);
  Linear sum_of(ValueId v);
  std::optional<Linear> arithmetic(const Node& node);
  Linear sum_of(Dim d);
  Linear of_expression(Dim d);
  Linear of_own(ValueId v);
  static Range range_of(DType dtype);
  void find_counts(const std::vector<std::vector<BlockId>>& before);
  void find_first_values(const std::vector<std::vector<BlockId>>& before);
  std::optional<Linear> distance_from_start(ValueId param, const std::vector<std::vector<BlockId>>& before);
  std::vector<Linear> given_to(ValueId param, const std::vector<std::vector<BlockId>>& before);
  bool is_only_given(ValueId param, const std::vector<std::vector<BlockId>>& before,
                     const std::function<bool(const Linear&)>& may_be_given);
  bool is_step(const Linear& sum) const;  // from a count
  bool is_near_zero(const Linear& sum) const;
  bool is_counted(const Linear& sum) const;
  void note_operation(ValueId v, const Node& node);
  void add_quotient(const Linear& dividend, const Linear& quotient, int64_t divisor);
  void add_extreme(Linear::Key key, Extreme extreme);
  bool collect(ValueId condition, bool holds, bool is_goal, std::vector<Linear>& out);
  bool collect_relation(const Node& node, bool holds, std::vector<Linear>& out);
  bool collect_fitting(const Node& node, std::vector<Linear>& out);
  std::optional<int64_t> lowest(const Linear& sum) const;
  bool is_bounded(const Linear::Term& term) const;
  bool prove(const Linear& goal, const std::vector<Linear>& facts, int depth, std::set<Linear>* open);
  bool prove_without(const Linear& goal, const Linear::Term& term, const std::vector<Linear>& facts, int depth,
                     std::set<Linear>* open);

  const Graph& graph_;
  DimTable dims_;
  Dominance dominance_;
  std::map<int, SymbolBinding> bindings_;
  std::map<ValueId, Linear> sums_;
  std::map<Linear::Key, Range> ranges_;
  std::map<Linear::Key, Extreme> extremes_;
  std::set<ValueId> counts_;                // parameters that no run can make large
  std::vector<Linear> always_;              // >= 0 wherever their numbers have values
  std::vector<BlockId> parents_;            // the immediate dominator; -1: none, or unreachable
  std::vector<std::vector<Linear>> facts_;  // by block: implied by the only edge to it, or of its loop's counters
  std::vector<std::set<Linear>> assumed_;
  int steps_ = 0, proofs_ = 0;
};

}  // namespace accel
