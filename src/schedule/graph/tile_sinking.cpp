#include "schedule/graph/tile_sinking.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/flow.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

namespace {

// Broadcast operands keep axes from being coalesced; with a shorter inner axis than this, coalescing gains more than sinking.
constexpr int64_t least_row = 256;

class Absorption {
 public:
  Absorption(Graph& graph, PointwiseLoop& loop) : graph_(graph), loop_(loop), origins_(pinned_inputs(graph)) {
    loop_.starts.assign(loop.states.size(), no_value);
    loop_.ends = loop.states;
  }

  void run() {
    find_users();
    find_entry();
    if (entry_ >= 0 && has_long_rows()) {
      for (size_t k = 0; k < loop_.states.size(); ++k) take_start(k);
      take_operands();
    }
    drop_started();
    take_ends();
  }

 private:
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  NodeId producer(ValueId v) const { return graph_.values[static_cast<size_t>(v)].producer; }
  BlockId block_of(ValueId v) const { return graph_.values[static_cast<size_t>(v)].block; }
  bool is_state(ValueId v) const { return std::find(loop_.states.begin(), loop_.states.end(), v) != loop_.states.end(); }
  bool has_shape(ValueId v) const {
    const Type &type = graph_.type(v), &state = graph_.type(loop_.states[0]);
    return type.shape == state.shape && type.axis_order() == state.axis_order();
  }

  void find_users() {
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Block& each = graph_.blocks[b];
      for (NodeId n : each.nodes) {
        block_of_node_[n] = static_cast<BlockId>(b);
        for (ValueId v : node(n).operands) users_[v].push_back(n);
      }
      for (const auto* list :
           {&each.terminator.operands, &each.terminator.target_arguments[0], &each.terminator.target_arguments[1]})
        for (ValueId v : *list) ++argument_uses_[v];
    }
  }

  // The only block that enters the loop, when it ends in a jump.
  void find_entry() {
    std::vector<BlockId> before = predecessors(graph_)[static_cast<size_t>(loop_.header)];
    std::erase(before, loop_.body);
    if (before.size() == 1 && block(before[0]).terminator.kind == TerminatorKind::jump) entry_ = before[0];
  }

  bool has_long_rows() {
    const Type& type = graph_.type(loop_.states[0]);
    if (type.rank() < 2) return true;
    std::optional<int64_t> length = graph_.dims.known(type.shape[type.axis_order().back()], graph_.hints);
    return length && *length >= least_row;
  }

  // --- before the loop --------------------------------------------------------------------------------------------------

  bool is_elementwise(ValueId v) const {
    const Node& n = node(producer(v));
    if (n.results.size() != 1 || !has_shape(v) || graph_.type(v).rank() == 0 || is_recorded(n)) return false;
    return n.op == Op::full || (op_class(n.op) == OpClass::pointwise && !is_loop_call(graph_, n));
  }

  // Recorded events of the body carry an iteration number, those of moved nodes must not, so such nodes stay.
  bool is_recorded(const Node& n) const { return graph_.records_events && node_events(graph_, n) != 0; }

  // Whether v may be computed after the rest of its block.
  bool can_wait(ValueId v) {
    const std::vector<NodeId>& nodes = block(entry_).nodes;
    auto place = std::find(nodes.begin(), nodes.end(), producer(v));
    if (place == nodes.end()) return false;
    bool quiet = std::none_of(place, nodes.end(), [&](NodeId n) {
      OpClass kind = op_class(node(n).op);
      return kind == OpClass::update || kind == OpClass::boxed || node(n).op == Op::bind;
    });
    const std::vector<ValueId>& operands = node(producer(v)).operands;
    return quiet && std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return keeps_elements(o); });
  }

  // Whether the loop does not change the elements of v.
  bool keeps_elements(ValueId v) {
    ValueId memory = viewed(graph_, v);
    const std::vector<ValueId>& arguments = block(entry_).terminator.target_arguments[0];
    if (std::find(arguments.begin(), arguments.end(), memory) != arguments.end()) return false;
    int origin = origins_[static_cast<size_t>(memory)];
    return origin == not_pinned || (origin >= 0 && std::none_of(loop_.states.begin(), loop_.states.end(), [&](ValueId s) {
                                      return origins_[static_cast<size_t>(s)] == origin;
                                    }));
  }

  // Whether only the loop uses v, which is an argument of the header `times` times.
  bool is_for_loop(ValueId v, int times) {
    return argument_uses_[v] == times && std::all_of(users_[v].begin(), users_[v].end(), [&](NodeId n) {
             return block_of_node_[n] == loop_.body || taken_.contains(n);
           });
  }

  bool take(ValueId v, int times) {
    if (graph_.is_input(v) || block_of_node_[producer(v)] != entry_ || taken_.contains(producer(v))) return false;
    if (!is_elementwise(v) || !is_for_loop(v, times) || !can_wait(v)) return false;
    taken_.insert(producer(v));
    return true;
  }

  void take_start(size_t k) {
    const std::vector<ValueId>& params = block(loop_.header).params;
    auto place = std::find(params.begin(), params.end(), loop_.states[k]) - params.begin();
    ValueId start = block(entry_).terminator.target_arguments[0][static_cast<size_t>(place)];
    if (origins_[static_cast<size_t>(loop_.states[k])] != not_pinned || !take(start, 1)) return;
    loop_.starts[k] = start;
  }

  // Moves operands of the body and of moved nodes into the body.
  void take_operands() {
    std::set<ValueId> used;
    for (NodeId n : block(loop_.body).nodes) used.insert(node(n).operands.begin(), node(n).operands.end());
    for (bool again = true; again;) {
      again = false;
      std::set<ValueId> candidates = used;
      for (NodeId n : taken_) candidates.insert(node(n).operands.begin(), node(n).operands.end());
      for (ValueId v : candidates) {
        if (!take(v, 0)) continue;
        again = true;
        if (used.contains(v)) loop_.kept.push_back(v);
      }
    }
    if (!taken_.empty()) move(entry_, true);
  }

  // Moves the collected nodes from a block to the start or end of the body.
  void move(BlockId from, bool to_start) {
    std::vector<NodeId>&source = block(from).nodes, &body = block(loop_.body).nodes, moved;
    for (NodeId n : source) {
      if (!taken_.contains(n)) continue;
      moved.push_back(n);
      block_of_node_[n] = loop_.body;
      for (ValueId v : node(n).results) graph_.values[static_cast<size_t>(v)].block = loop_.body;
    }
    std::erase_if(source, [&](NodeId n) { return taken_.contains(n); });
    body.insert(to_start ? body.begin() : body.end(), moved.begin(), moved.end());
    taken_.clear();
  }

  void drop_started() {
    for (size_t k = 0; k < loop_.states.size(); ++k) {
      if (loop_.starts[k] == no_value) continue;
      std::vector<ValueId>& params = block(loop_.header).params;
      auto place = std::find(params.begin(), params.end(), loop_.states[k]) - params.begin();
      params.erase(params.begin() + place);
      for (BlockId b : {entry_, loop_.body}) {
        std::vector<ValueId>& arguments = block(b).terminator.target_arguments[0];
        arguments.erase(arguments.begin() + place);
      }
    }
  }

  // --- after the loop -----------------------------------------------------------------------------------------------------

  void take_ends() {
    BlockId exit = block(loop_.header).terminator.targets[loop_.exit_edge];
    if (predecessors(graph_)[static_cast<size_t>(exit)].size() != 1) return;
    for (NodeId n : std::vector<NodeId>(block(exit).nodes)) {
      OpClass kind = op_class(node(n).op);
      bool passes = kind == OpClass::leaf || kind == OpClass::view || kind == OpClass::pointwise;
      if (node(n).op == Op::bind) return;
      if (passes) continue;
      if (kind != OpClass::update || !take_end(n, exit)) return;
    }
  }

  // Moves a store over a whole state into the body when nothing else uses the state.
  bool take_end(NodeId store, BlockId exit) {
    const Node& n = node(store);
    auto state = std::find(loop_.states.begin(), loop_.states.end(), n.operands[0]);
    if (n.op != Op::store || n.operands[1] != n.operands[0] || state == loop_.states.end()) return false;
    size_t place = static_cast<size_t>(state - loop_.states.begin());
    bool own = origins_[static_cast<size_t>(*state)] == not_pinned && keeps_its_end(*state);
    if (!own || !collect(store, store, exit) || !is_only_here(*state)) {
      taken_.clear();
      return false;
    }
    ValueId result = n.results[0];
    move(exit, false);
    loop_.ends[place] = result;
    replace(result, *state);
    return true;
  }

  bool collect(NodeId n, NodeId store, BlockId exit) {
    taken_.insert(n);
    return std::all_of(node(n).operands.begin(), node(n).operands.end(), [&](ValueId v) {
      if (is_state(v)) return keeps_its_end(v);
      if (is_leaf(v)) return true;
      if (graph_.is_input(v) || block_of_node_[producer(v)] != exit) return graph_.type(v).rank() == 0;
      if (taken_.contains(producer(v))) return true;
      bool alone = argument_uses_[v] == 0 && users_[v].size() == 1;
      bool fits =
          op_class(node(producer(v)).op) == OpClass::pointwise && !is_loop_call(graph_, node(producer(v))) && has_shape(v);
      return alone && fits && !is_recorded(node(producer(v))) && collect(producer(v), store, exit);
    });
  }
  // Whether no store over this state has been moved already: after one, the state is another value.
  bool keeps_its_end(ValueId state) const {
    auto place = std::find(loop_.states.begin(), loop_.states.end(), state) - loop_.states.begin();
    return loop_.ends[static_cast<size_t>(place)] == state;
  }
  // Whether v is a constant, computed at each use.
  bool is_leaf(ValueId v) const {
    if (graph_.is_input(v)) return false;
    const Node& n = node(producer(v));
    if (n.op == Op::full) return is_leaf(n.operands[0]);
    return n.op == Op::constant || n.op == Op::dim;
  }
  bool is_only_here(ValueId state) {
    const Terminator& head = block(loop_.header).terminator;
    for (ValueId v : head.target_arguments[loop_.exit_edge])
      if (v == state) return false;
    return std::all_of(users_[state].begin(), users_[state].end(),
                       [&](NodeId n) { return block_of_node_[n] == loop_.body || taken_.contains(n); });
  }

  void replace(ValueId from, ValueId to) {
    auto change = [&](std::vector<ValueId>& list) { std::replace(list.begin(), list.end(), from, to); };
    for (Node& n : graph_.nodes) change(n.operands);
    for (Block& b : graph_.blocks) {
      change(b.terminator.operands);
      for (auto& list : b.terminator.target_arguments) change(list);
    }
    users_[to] = users_[from];
    argument_uses_[to] = argument_uses_[from];
  }

  Graph& graph_;
  PointwiseLoop& loop_;
  std::vector<int> origins_;
  std::map<ValueId, std::vector<NodeId>> users_;
  std::map<ValueId, int> argument_uses_;
  std::map<NodeId, BlockId> block_of_node_;
  std::set<NodeId> taken_;
  BlockId entry_ = -1;
};

}  // namespace

Result<bool> sink_into_tiles(GraphState& state) {
  bool changed = false;
  for (auto& [header, loop] : state.tiled_loops) {
    if (loop.is_sliced()) continue;
    const size_t count = loop.starts.size() + loop.kept.size() + loop.ends.size();
    Absorption(state.graph, loop).run();
    changed = changed || loop.starts.size() + loop.kept.size() + loop.ends.size() > count;
  }
  return changed;
}

}  // namespace accel
