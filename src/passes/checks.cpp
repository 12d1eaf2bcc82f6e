// Checks that always hold: branches to a side exit that is never taken. Loop invariants are found by supposing them at the head
// of the loop and dropping each that an edge to the head does not imply (Flanagan and Leino, "Houdini, an annotation
// assistant", 2001).

#include <algorithm>

#include "ir/analysis/integers.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr size_t most_suppositions = 128;
constexpr int deepest = 4;  // suppositions for suppositions

// A branch that stays, to target `stays`, if all of `needed` is >= 0.
struct Check {
  BlockId block = 0;
  int stays = 0;
  std::vector<Linear> needed;
};

// A sum that may be >= 0 wherever a block begins.
struct Supposition {
  BlockId block = 0;
  Linear sum;
  bool holds = true;
};

class Checks {
 public:
  explicit Checks(Graph& graph) : graph_(graph), before_(predecessors(graph)), dominance_(graph), integers_(graph) {}

  bool run() {
    find_checks();
    if (checks_.empty()) return false;
    for (const Check& check : checks_)
      for (const Linear& sum : check.needed) look_for(sum, check.block, -1, {});
    drop_wrong_suppositions();
    std::erase_if(checks_, [&](const Check& check) { return !always_holds(check); });
    for (const Check& check : checks_) remove(check);
    if (!checks_.empty()) remove_unreachable();
    return !checks_.empty();
  }

 private:
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  bool leaves(BlockId b) { return block(b).terminator.kind == TerminatorKind::leave; }

  void find_checks() {
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      const Terminator& t = block(b).terminator;
      if (t.kind != TerminatorKind::branch || leaves(t.targets[0]) == leaves(t.targets[1])) continue;
      int stays = leaves(t.targets[0]) ? 1 : 0;
      auto needed = integers_.needed_for(t.operands[0], stays == 0);
      if (needed) checks_.push_back({b, stays, std::move(*needed)});
    }
  }

  // Supposes what would help to prove the sum, at the beginnings of blocks but those in `asking`.
  void look_for(const Linear& sum, BlockId at, int edge, const std::vector<BlockId>& asking) {
    std::set<Linear> open;
    if (integers_.prove(sum, at, edge, &open) || asking.size() >= deepest) return;
    for (const Linear& each : open)
      for (const Linear::Term& term : each.terms()) {
        ValueId param = integers_.param_of(term.key);
        if (param == no_value) continue;
        BlockId home = graph_.values[static_cast<size_t>(param)].block;
        if (std::find(asking.begin(), asking.end(), home) != asking.end()) continue;
        suppose_facts_of_edges(home);
        suppose(home, each, asking);
      }
  }

  // Candidates for invariants of a loop: facts that hold on one of the edges to its head, in terms of the head's parameters.
  void suppose_facts_of_edges(BlockId home) {
    if (!is_loop_head(home) || !loop_heads_.insert(home).second) return;
    every_edge(home, [&](BlockId from, int edge) {
      std::map<Linear::Key, Linear> params = params_for_arguments(home, from, edge);
      for (const Linear& fact : integers_.facts_at(from, edge))
        if (std::optional<Linear> sum = with_params(fact, params)) suppose(home, *sum, {});
      suppose_first_values(home, from, edge);
      return true;
    });
  }

  // By the number that an edge gives a parameter, from which it differs by a constant at most: the number in terms of the
  // parameter.
  std::map<Linear::Key, Linear> params_for_arguments(BlockId home, BlockId from, int edge) {
    std::map<Linear::Key, Linear> out;
    for_each_integer(home, from, edge, [&](const Linear& param, const Linear& given) {
      if (given.terms().size() != 1 || given.terms()[0].factor != 1) return;
      if (auto number = param.plus(Linear(given.constant()), -1)) out.emplace(given.terms()[0].key, *number);
    });
    return out;
  }

  // The fact with parameters for their arguments; nullopt where it has no parameter, or more than two numbers.
  static std::optional<Linear> with_params(const Linear& fact, const std::map<Linear::Key, Linear>& params) {
    std::optional<Linear> out = Linear(fact.constant());
    bool has_param = false;
    for (const Linear::Term& term : fact.terms()) {
      auto found = params.find(term.key);
      has_param |= found != params.end();
      if (out) out = out->plus(found == params.end() ? Linear::of(term.key) : found->second, term.factor);
    }
    return has_param && out && out->terms().size() <= 2 ? out : std::nullopt;
  }

  // Parameters may only rise or only fall.
  void suppose_first_values(BlockId home, BlockId from, int edge) {
    for_each_integer(home, from, edge, [&](const Linear& param, const Linear& given) {
      for (int64_t sign : {1, -1}) {
        std::optional<Linear> distance = param.plus(given, -1);
        if (distance) distance = distance->times(sign);
        if (distance) suppose(home, *distance, {});
      }
    });
  }

  // Calls use(parameter, what the edge gives it).
  template <class Use>
  void for_each_integer(BlockId home, BlockId from, int edge, Use use) {
    const std::vector<ValueId>& params = block(home).params;
    for (size_t k = 0; k < params.size(); ++k) {
      const Linear& param = integers_.linear(params[k]);
      if (graph_.type(params[k]).rank() > 0 || !is_param_alone(param)) continue;
      use(param, integers_.linear(block(from).terminator.target_arguments[edge][k]));
    }
  }

  bool is_loop_head(BlockId b) const {
    const std::vector<BlockId>& from_blocks = before_[static_cast<size_t>(b)];
    return std::any_of(from_blocks.begin(), from_blocks.end(), [&](BlockId from) { return dominance_.dominates(b, from); });
  }

  bool is_param_alone(const Linear& sum) const {
    return sum.constant() == 0 && sum.terms().size() == 1 && sum.terms()[0].factor == 1 &&
           integers_.param_of(sum.terms()[0].key) != no_value;
  }

  void suppose(BlockId home, const Linear& sum, std::vector<BlockId> asking) {
    bool is_known = std::all_of(sum.terms().begin(), sum.terms().end(), [&](const Linear::Term& term) {
      return is_param(term.key, home) || integers_.is_known_before(term.key, home);
    });
    if (!is_known || suppositions_.size() >= most_suppositions || !supposed_[home].insert(sum).second) return;
    suppositions_.push_back({home, sum});
    asking.push_back(home);
    every_edge(home, [&](BlockId from, int edge) {
      std::optional<Linear> given = on_edge(sum, home, from, edge);
      if (given) look_for(*given, from, edge, asking);
      return true;
    });
  }

  bool is_param(Linear::Key key, BlockId home) const {
    ValueId param = integers_.param_of(key);
    return param != no_value && graph_.values[static_cast<size_t>(param)].block == home;
  }

  template <class Test>
  bool every_edge(BlockId home, Test test) {
    for (BlockId from : before_[static_cast<size_t>(home)]) {
      const Terminator& t = block(from).terminator;
      for (int k = 0; k < target_count(t); ++k)
        if (t.targets[k] == home && !test(from, k)) return false;
    }
    return true;
  }

  // The sum with what an edge gives the parameters of its target.
  std::optional<Linear> on_edge(const Linear& sum, BlockId home, BlockId from, int edge) {
    const std::vector<ValueId>& params = block(home).params;
    std::optional<Linear> out = Linear(sum.constant());
    for (const Linear::Term& term : sum.terms()) {
      if (!out) break;
      if (!is_param(term.key, home)) {
        out = out->plus(Linear::of(term.key), term.factor);
        continue;
      }
      size_t place =
          static_cast<size_t>(std::find(params.begin(), params.end(), integers_.param_of(term.key)) - params.begin());
      out = out->plus(integers_.linear(block(from).terminator.target_arguments[edge][place]), term.factor);
    }
    return out;
  }

  // Starts when all suppositions are collected: look_for() stops at what is proved, and a wrong supposition could prove it.
  void drop_wrong_suppositions() {
    for (const Supposition& each : suppositions_) integers_.assume(each.block, each.sum);
    for (bool again = true; again;) {
      again = false;
      for (Supposition& each : suppositions_) {
        if (!each.holds || holds_on_all_edges(each)) continue;
        each.holds = false;
        integers_.forget(each.block, each.sum);
        again = true;
      }
    }
  }

  bool holds_on_all_edges(const Supposition& each) {
    return every_edge(each.block, [&](BlockId from, int edge) {
      std::optional<Linear> given = on_edge(each.sum, each.block, from, edge);
      return given && integers_.prove(*given, from, edge);
    });
  }

  bool always_holds(const Check& check) {
    return std::all_of(check.needed.begin(), check.needed.end(),
                       [&](const Linear& sum) { return integers_.prove(sum, check.block); });
  }

  void remove(const Check& check) {
    Terminator& t = block(check.block).terminator;
    Terminator jump;
    jump.kind = TerminatorKind::jump;
    jump.targets[0] = t.targets[check.stays];
    jump.target_arguments[0] = t.target_arguments[check.stays];
    jump.poll = t.poll;
    t = std::move(jump);
  }

  // Removes unreachable blocks, and records the types of the outputs of exits that are removed.
  void remove_unreachable() {
    std::vector<bool> gone(graph_.blocks.size(), true);
    std::vector<BlockId> open = {0};
    while (!open.empty()) {
      BlockId b = open.back();
      open.pop_back();
      if (!gone[static_cast<size_t>(b)]) continue;
      gone[static_cast<size_t>(b)] = false;
      const Terminator& t = block(b).terminator;
      for (int k = 0; k < target_count(t); ++k) open.push_back(t.targets[k]);
    }
    std::set<int> left;
    for (size_t b = 0; b < graph_.blocks.size(); ++b)
      if (!gone[b] && is_exit(graph_.blocks[b].terminator)) left.insert(exit_number(graph_.blocks[b].terminator));
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Terminator& t = graph_.blocks[b].terminator;
      if (!gone[b] || !is_exit(t) || left.contains(exit_number(t))) continue;
      std::vector<Type>& types = graph_.closed_exits[exit_number(t)];
      types.clear();
      for (ValueId v : t.operands) types.push_back(graph_.type(v));
    }
    remove_blocks(graph_, gone);
  }

  Graph& graph_;
  std::vector<std::vector<BlockId>> before_;
  Dominance dominance_;
  Integers integers_;
  std::vector<Check> checks_;
  std::vector<Supposition> suppositions_;
  std::map<BlockId, std::set<Linear>> supposed_;
  std::set<BlockId> loop_heads_;
};

bool has_checks(const Graph& graph) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(),
                     [&](const Block& each) { return each.terminator.kind == TerminatorKind::leave; });
}

}  // namespace

bool checks(Graph& graph) { return graph.blocks.size() > 1 && has_checks(graph) && Checks(graph).run(); }

}  // namespace accel
