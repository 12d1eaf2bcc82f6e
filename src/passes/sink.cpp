// Moves what a block computes past the branch at its end, when one edge leads to an exit and the block of the other edge uses
// it: one loop then computes the values and their users, and they need no memory. The exit gets a copy of the computations that
// it returns and of those that may raise events.

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/flow.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr size_t most_copies = 160;  // nodes that exits get copies of, in all

class Sinking {
 public:
  explicit Sinking(Graph& graph) : graph_(graph), before_(predecessors(graph)), uses_(graph.use_counts()) {}

  bool run() {
    bool changed = false, again = true;
    for (size_t iteration = 0; again && iteration < graph_.blocks.size(); ++iteration) {
      again = false;
      for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) again |= sink_from(b);
      changed |= again;
    }
    return changed;
  }

 private:
  using Nodes = std::set<NodeId>;

  const Block& block(BlockId b) const { return graph_.blocks[static_cast<size_t>(b)]; }
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  const Value& value(ValueId v) const { return graph_.values[static_cast<size_t>(v)]; }
  bool is_of(ValueId v, BlockId b) const { return value(v).producer >= 0 && value(v).block == b; }

  static bool is_barrier(const Node& n) { return op_class(n.op) == OpClass::update || op_class(n.op) == OpClass::boxed; }
  static bool is_movable(const Node& n) {
    OpClass kind = op_class(n.op);
    return kind == OpClass::pointwise || kind == OpClass::view || kind == OpClass::reduction ||
           (kind == OpClass::leaf && n.op != Op::bind);
  }
  bool is_array(ValueId v) const { return graph_.type(v).rank() > 0; }

  bool leaves(BlockId b) const {
    const Block& to = block(b);
    return to.terminator.kind == TerminatorKind::leave && to.params.empty() &&
           std::none_of(to.nodes.begin(), to.nodes.end(),
                        [&](NodeId n) { return is_barrier(node(n)) || node(n).op == Op::bind; });
  }

  // The edge that stays, of a branch whose other edge leads to an exit; -1 for other branches.
  int staying_edge(BlockId b) const {
    const Terminator& t = block(b).terminator;
    if (t.kind != TerminatorKind::branch || t.targets[0] == t.targets[1]) return -1;
    bool first = leaves(t.targets[0]), second = leaves(t.targets[1]);
    if (first == second) return -1;
    int on = first ? 1 : 0;
    return before_[static_cast<size_t>(t.targets[on])].size() == 1 && t.targets[on] != 0 ? on : -1;
  }

  // --- what is worth it -----------------------------------------------------------------------------------------------

  // Whether nodes of b compute with v, or with a view on it, or find elements by it.
  bool computes_with(BlockId b, ValueId v) const {
    for (NodeId n : block(b).nodes) {
      const Node& user = node(n);
      if (std::count(user.operands.begin(), user.operands.end(), v) == 0) continue;
      OpClass kind = op_class(user.op);
      if (kind == OpClass::pointwise || kind == OpClass::reduction) return true;
      if (kind == OpClass::gather && user.operands[0] != v) return true;
      if (kind == OpClass::view && is_array(user.results[0]) && computes_with(b, user.results[0])) return true;
    }
    return false;
  }

  // Whether b computes with v, or a block after further branches that v may be moved past.
  bool is_wanted(BlockId b, ValueId v) const {
    if (computes_with(b, v)) return true;
    for (NodeId n : block(b).nodes)
      if (is_barrier(node(n)) || node_events(graph_, node(n)) != 0) return false;
    int on = staying_edge(b);
    return on >= 0 && is_wanted(block(b).terminator.targets[on], v);
  }

  // --- what may be moved ----------------------------------------------------------------------------------------------

  std::set<ValueId> used_at_end(BlockId b) const {
    const Terminator& t = block(b).terminator;
    std::set<ValueId> used(t.operands.begin(), t.operands.end());
    for (const auto& arguments : t.target_arguments) used.insert(arguments.begin(), arguments.end());
    return used;
  }

  using Uses = std::map<ValueId, int>;

  // Whether use in a later block costs v no memory: it has memory already, or needs none. `uses`: those within b.
  bool is_shared(ValueId v, BlockId b, const Uses& uses) const {
    if (!is_of(v, b) || !is_array(v)) return true;
    auto own = uses.find(v);
    if (uses_[static_cast<size_t>(v)] > (own == uses.end() ? 0 : own->second)) return true;
    const Node& producer = graph_.producer(v);
    if (op_class(producer.op) == OpClass::leaf) return true;
    return op_class(producer.op) == OpClass::view && is_shared(producer.operands[0], b, uses);
  }

  Uses uses_in(BlockId b) const {
    Uses uses;
    auto count = [&](const std::vector<ValueId>& values) {
      for (ValueId v : values) ++uses[v];
    };
    for (NodeId n : block(b).nodes) count(node(n).operands);
    const Terminator& t = block(b).terminator;
    count(t.operands);
    for (const auto& arguments : t.target_arguments) count(arguments);
    return uses;
  }

  // Nodes of `allowed` that may move past the end of b, in one pass from there: no remaining node needs them, and they pass no
  // barrier and reorder no events.
  Nodes movable(BlockId b, const Nodes& allowed) const {
    std::set<ValueId> needed = used_at_end(b);
    Nodes out;
    bool events_stay = false, barrier = false;
    const std::vector<NodeId>& nodes = block(b).nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node& n = node(*it);
      bool has_events = node_events(graph_, n) != 0;
      bool free = std::none_of(n.results.begin(), n.results.end(), [&](ValueId v) { return needed.contains(v); });
      if (free && !barrier && !(has_events && events_stay) && allowed.contains(*it)) {
        out.insert(*it);
        continue;
      }
      barrier |= is_barrier(n);
      events_stay |= has_events;
      needed.insert(n.operands.begin(), n.operands.end());
    }
    return out;
  }

  // The nodes of `moved` that compute values which are wanted in `to`, with their operands.
  Nodes wanted(BlockId b, BlockId to, const Nodes& moved) const {
    std::set<ValueId> sources;
    Nodes out;
    const std::vector<NodeId>& nodes = block(b).nodes;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      if (!moved.contains(*it)) continue;
      const Node& n = node(*it);
      bool good = std::any_of(n.results.begin(), n.results.end(),
                              [&](ValueId v) { return sources.contains(v) || (is_array(v) && is_wanted(to, v)); });
      if (!good) continue;
      out.insert(*it);
      sources.insert(n.operands.begin(), n.operands.end());
    }
    return out;
  }

  // Those whose operands move as well, or have memory anyway.
  Nodes without_new_memory(BlockId b, const Nodes& moved) const {
    Nodes out;
    if (moved.empty()) return out;
    Uses uses = uses_in(b);
    for (NodeId n : moved) {
      const auto& operands = node(n).operands;
      if (std::all_of(operands.begin(), operands.end(),
                      [&](ValueId v) { return (is_of(v, b) && moved.contains(value(v).producer)) || is_shared(v, b, uses); }))
        out.insert(n);
    }
    return out;
  }

  Nodes chosen(BlockId b, BlockId to) const {
    Nodes allowed;
    for (NodeId n : block(b).nodes)
      if (is_movable(node(n))) allowed.insert(n);
    while (!allowed.empty()) {
      Nodes next = without_new_memory(b, wanted(b, to, movable(b, allowed)));
      if (next == allowed) break;
      allowed = std::move(next);
    }
    return allowed;
  }

  // --- the move -------------------------------------------------------------------------------------------------------

  bool sink_from(BlockId b) {
    int on = staying_edge(b);
    if (on < 0) return false;
    BlockId to = block(b).terminator.targets[on];
    Nodes moved = chosen(b, to);
    bool arrays = std::any_of(moved.begin(), moved.end(), [&](NodeId n) {
      return op_class(node(n).op) != OpClass::leaf && op_class(node(n).op) != OpClass::view;
    });
    std::vector<NodeId> in_order;
    for (NodeId n : block(b).nodes)
      if (moved.contains(n)) in_order.push_back(n);
    std::vector<NodeId> copied = needed_at(block(b).terminator.targets[1 - on], in_order);
    if (!arrays || copies_ + copied.size() > most_copies) return false;
    copies_ += copied.size();
    if (!copied.empty()) copy_to_exit(b, 1 - on, std::move(copied));
    move_to(b, to, in_order);
    uses_ = graph_.use_counts();
    before_ = predecessors(graph_);
    return true;
  }

  // Nodes whose values the exit returns, or that raise events, with their operands.
  std::vector<NodeId> needed_at(BlockId exit, const std::vector<NodeId>& nodes) const {
    std::set<ValueId> needed = used_at_end(exit);
    for (NodeId n : block(exit).nodes) needed.insert(node(n).operands.begin(), node(n).operands.end());
    std::vector<NodeId> out;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node& n = node(*it);
      bool wanted = node_events(graph_, n) != 0 ||
                    std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return needed.contains(v); });
      if (!wanted) continue;
      out.push_back(*it);
      needed.insert(n.operands.begin(), n.operands.end());
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  // Gives the edge to an exit a block of its own that starts with copies of these nodes.
  void copy_to_exit(BlockId from, int edge, std::vector<NodeId> copied) {
    BlockId exit = block(from).terminator.targets[edge];
    copied.insert(copied.end(), block(exit).nodes.begin(), block(exit).nodes.end());
    Terminator end = block(exit).terminator;
    if (before_[static_cast<size_t>(exit)].size() == 1) {
      graph_.blocks[static_cast<size_t>(exit)].nodes.clear();
    } else {
      exit = static_cast<BlockId>(graph_.blocks.size());
      graph_.blocks.emplace_back();
      graph_.blocks[static_cast<size_t>(from)].terminator.targets[edge] = exit;
    }
    std::map<ValueId, ValueId> copies;
    auto rename = [&](std::vector<ValueId>& values) {
      for (ValueId& v : values)
        if (auto found = copies.find(v); found != copies.end()) v = found->second;
    };
    for (NodeId n : copied) {
      Node source = node(n);
      std::vector<Type> types;
      for (ValueId v : source.results) types.push_back(graph_.type(v));
      rename(source.operands);
      graph_.add_node(exit, source.op, source.operands, source.attrs, std::move(types), source.where);
      const std::vector<ValueId>& results = graph_.nodes.back().results;
      for (size_t k = 0; k < results.size(); ++k) copies[source.results[k]] = results[k];
    }
    rename(end.operands);
    graph_.blocks[static_cast<size_t>(exit)].terminator = std::move(end);
  }

  void move_to(BlockId from, BlockId to, const std::vector<NodeId>& nodes) {
    Nodes moved(nodes.begin(), nodes.end());
    std::erase_if(graph_.blocks[static_cast<size_t>(from)].nodes, [&](NodeId n) { return moved.contains(n); });
    std::vector<NodeId>& target = graph_.blocks[static_cast<size_t>(to)].nodes;
    target.insert(target.begin(), nodes.begin(), nodes.end());
    for (NodeId n : nodes)
      for (ValueId v : node(n).results) graph_.values[static_cast<size_t>(v)].block = to;
  }

  Graph& graph_;
  std::vector<std::vector<BlockId>> before_;
  std::vector<int> uses_;  // of each value
  size_t copies_ = 0;
};

}  // namespace

bool sink(Graph& graph) { return graph.blocks.size() > 1 && Sinking(graph).run(); }

}  // namespace accel
