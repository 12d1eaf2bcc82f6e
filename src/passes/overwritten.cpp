// Dead-store elimination: a store whose elements a later store overwrites before they are read is made only at the exits that
// are reached between the two.

#include <algorithm>
#include <optional>
#include <set>

#include "ir/analysis/flow.h"
#include "ir/analysis/uses.h"
#include "ir/edit.h"
#include "passes/passes.h"

namespace accel {

namespace {

constexpr size_t most_exits = 16;  // that get the store, of each

class Overwritten {
 public:
  explicit Overwritten(Graph& graph) : graph_(graph), before_(predecessors(graph)) {}

  bool run() {
    bool changed = false;
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      std::vector<NodeId> nodes = block(b).nodes;
      for (NodeId n : nodes) changed |= is_plain_store(n) && drop(b, n);
    }
    return changed;
  }

 private:
  // The store that follows, and the exits that are reached before it.
  struct Following : SoleStore {
    std::set<BlockId> exits;
  };

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  Node& node(NodeId n) { return graph_.nodes[static_cast<size_t>(n)]; }
  BlockId block_of(ValueId v) const { return graph_.values[static_cast<size_t>(v)].block; }
  bool is_plain_store(NodeId n) { return node(n).op == Op::store && node(n).operands.size() == 3; }

  bool drop(BlockId home, NodeId id) {
    std::optional<Following> next = following(id);
    if (!next || !find_exits(home, id, *next)) return false;
    if (!next->exits.empty() && !is_unchanged(node(id).operands[2])) return false;
    const Node store = node(id);
    for (BlockId exit : next->exits) store_at(exit, store);
    Node& later = node(next->store);
    later.operands[1] = later.operands[1] == later.operands[0] ? store.operands[0] : store.operands[1];
    later.operands[0] = store.operands[0];
    for (Block& each : graph_.blocks)
      std::erase_if(each.nodes, [&](NodeId n) {
        return n == id || std::find(next->views.begin(), next->views.end(), n) != next->views.end();
      });
    return true;
  }

  // --- the users of the store -------------------------------------------------------------------------------------------

  // The store that overwrites this one: the only user of its result, which writes the same elements or all.
  std::optional<Following> following(NodeId id) {
    ValueId stored = node(id).results[0];
    std::optional<SoleStore> sole = sole_store(graph_, stored);
    if (!sole) return std::nullopt;
    ValueId where = node(sole->store).operands[1];
    if (where != stored && !is_same_view(graph_, where, stored, node(id).operands[1], node(id).operands[0]))
      return std::nullopt;
    return Following{std::move(*sole), {}};
  }

  // --- the paths between the stores -------------------------------------------------------------------------------------

  // Whether nothing on the nodes [begin, end) can see memory.
  bool is_quiet(std::vector<NodeId>::const_iterator begin, std::vector<NodeId>::const_iterator end) {
    return std::all_of(begin, end, [&](NodeId n) {
      return op_class(node(n).op) != OpClass::boxed && (op_class(node(n).op) != OpClass::update || node(n).op == Op::store);
    });
  }

  bool find_exits(BlockId home, NodeId id, Following& next) {
    BlockId end = block_of(node(next.store).results[0]);
    const std::vector<NodeId>& first = block(home).nodes;
    auto from = std::find(first.begin(), first.end(), id);
    auto until = std::find(block(end).nodes.begin(), block(end).nodes.end(), next.store);
    if (home == end) return from < until && is_quiet(from, until);
    if (!is_quiet(from, first.end()) || !is_quiet(block(end).nodes.begin(), until)) return false;
    std::set<BlockId> between{home}, reached;
    std::vector<BlockId> open{home};
    while (!open.empty()) {
      const Terminator& t = block(open.back()).terminator;
      open.pop_back();
      for (int k = 0; k < target_count(t); ++k) {
        BlockId to = t.targets[k];
        if (to == home) return false;
        if (!reached.insert(to).second || to == end) continue;
        if (!is_quiet(block(to).nodes.begin(), block(to).nodes.end())) return false;
        if (is_exit(block(to).terminator)) {
          next.exits.insert(to);
        } else {
          between.insert(to);
          open.push_back(to);
        }
      }
    }
    // Every predecessor of the reached blocks lies between the two stores.
    return next.exits.size() <= most_exits && std::all_of(reached.begin(), reached.end(), [&](BlockId b) {
             const auto& before = before_[static_cast<size_t>(b)];
             return std::all_of(before.begin(), before.end(), [&](BlockId p) { return between.contains(p); });
           });
  }

  // --- the exits ------------------------------------------------------------------------------------------------------

  ValueId source_of(ValueId v) const {
    while (!graph_.is_input(v) && graph_.producer(v).op == Op::copy) v = graph_.producer(v).operands[0];
    return v;
  }

  // Whether the stored value lies in memory that is not written: an exit can read it later.
  bool is_unchanged(ValueId stored) {
    ValueId v = source_of(stored);
    if (!graph_.is_input(v) || pinned_inputs(graph_)[static_cast<size_t>(v)] != not_pinned || is_handed_on(graph_, {v}))
      return false;
    std::vector<NodeId> list = users_of(graph_, v);
    return std::all_of(list.begin(), list.end(),
                       [&](NodeId n) { return op_class(node(n).op) != OpClass::update || node(n).operands[0] != v; });
  }

  void store_at(BlockId exit, const Node& store) {
    std::vector<ValueId> operands{store.operands[0], store.operands[1], source_of(store.operands[2])};
    graph_.add_node(exit, Op::store, std::move(operands), store.attrs, {graph_.type(store.results[0])}, store.where);
    auto& nodes = block(exit).nodes;
    std::rotate(nodes.begin(), nodes.end() - 1, nodes.end());
  }

  Graph& graph_;
  std::vector<std::vector<BlockId>> before_;
};

}  // namespace

bool overwritten(Graph& graph) { return Overwritten(graph).run(); }

}  // namespace accel
