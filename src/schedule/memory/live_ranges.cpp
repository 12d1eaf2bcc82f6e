#include "schedule/memory/live_ranges.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/analysis/flow.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

namespace {

class Webs {
 public:
  Webs(const Graph& graph, const Segments& segments, const std::vector<int>& origins, const std::vector<bool>& apart)
      : graph_(graph),
        segments_(segments),
        origins_(origins),
        apart_(apart),
        root_(graph.values.size()),
        conflicts_(graph.values.size()) {
    std::iota(root_.begin(), root_.end(), 0);
    members_.resize(root_.size());
    for (ValueId v : root_) members_[at(v)] = {v};
  }

  std::vector<ValueId> run() {
    find_live();
    for (size_t b = 0; b < graph_.blocks.size(); ++b) find_conflicts(b);
    for (const Block& block : graph_.blocks)
      for (NodeId n : block.nodes) {
        const Node& node = graph_.nodes[at(n)];
        if (op_class(node.op) == OpClass::update && is_own(node.results[0])) join(node.operands[0], node.results[0]);
      }
    for (const Block& block : graph_.blocks)
      for (int k = 0; k < target_count(block.terminator); ++k) join_edge(block.terminator, k);
    for (ValueId& v : root_) v = root_[at(v)];
    return root_;
  }

 private:
  static size_t at(int id) { return static_cast<size_t>(id); }
  bool is_own(ValueId v) const { return graph_.type(v).rank() > 0 && origins_[at(v)] == not_pinned; }

  void use(ValueId v, std::set<ValueId>& live) const {
    v = viewed(graph_, v);
    if (is_own(v)) live.insert(v);
  }

  std::set<ValueId> live_out(size_t b) const {
    std::set<ValueId> live;
    const Terminator& t = graph_.blocks[b].terminator;
    for (ValueId v : t.operands) use(v, live);
    for (int k = 0; k < target_count(t); ++k) {
      live.insert(live_[at(t.targets[k])].begin(), live_[at(t.targets[k])].end());
      for (ValueId v : t.target_arguments[k]) use(v, live);
    }
    return live;
  }

  // Walks a block backwards and calls define(value, values live after its definition).
  template <class Define>
  std::set<ValueId> walk(size_t b, Define define) const {
    std::set<ValueId> live = live_out(b);
    const auto& nodes = graph_.blocks[b].nodes;
    for (size_t k = nodes.size(); k-- > 0;) {
      const Node& node = graph_.nodes[at(nodes[k])];
      if (is_array_view(graph_, node.results[0])) continue;
      for (ValueId v : node.results) define(v, live);
      for (ValueId v : node.results) live.erase(v);
      for (ValueId v : node.operands) use(v, live);
    }
    for (ValueId v : graph_.blocks[b].params) define(v, live);
    for (ValueId v : graph_.blocks[b].params) live.erase(v);
    return live;
  }

  void find_live() {
    live_.resize(graph_.blocks.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = graph_.blocks.size(); b-- > 0;) {
        std::set<ValueId> live = walk(b, [](ValueId, const std::set<ValueId>&) {});
        if (live != live_[b]) live_[b] = std::move(live), changed = true;
      }
    }
  }

  void find_conflicts(size_t b) {
    auto conflict = [&](ValueId v, ValueId other) {
      if (v != other) conflicts_[at(v)].insert(other), conflicts_[at(other)].insert(v);
    };
    walk(b, [&](ValueId v, const std::set<ValueId>& live) {
      if (!is_own(v)) return;
      for (ValueId other : live) conflict(v, other);
    });
    for (ValueId v : graph_.blocks[b].params)
      for (ValueId other : graph_.blocks[b].params)
        if (is_own(v) && is_own(other)) conflict(v, other);
    for (const Segment& segment : segments_.of(static_cast<BlockId>(b))) {
      std::set<ValueId> used(segment.results.begin(), segment.results.end());
      for (NodeId n : segment.nodes)
        for (ValueId v : graph_.nodes[at(n)].operands) use(v, used);
      for (NodeId n : segment.updates)
        for (ValueId v : graph_.nodes[at(n)].operands) use(v, used);
      for (ValueId v : segment.results)
        for (ValueId other : used)
          if (is_own(v) && is_own(other)) conflict(v, other);
    }
  }

  void join_edge(const Terminator& t, int k) {
    const std::vector<ValueId>& params = graph_.blocks[at(t.targets[k])].params;
    for (size_t i = 0; i < params.size(); ++i) {
      ValueId v = t.target_arguments[k][i];
      if (!is_own(params[i]) || !is_own(v) || is_array_view(graph_, v) || overlap(v, params[i])) continue;
      const Type &a = graph_.type(v), &b = graph_.type(params[i]);
      if (a.dtype == b.dtype && a.shape == b.shape) join(v, params[i]);
    }
  }

  bool overlap(ValueId a, ValueId b) const {
    a = root_[at(a)], b = root_[at(b)];
    if (a == b) return false;
    for (ValueId x : members_[at(a)]) {
      if (apart_[at(x)]) return true;
      for (ValueId y : members_[at(b)])
        if (apart_[at(y)] || conflicts_[at(x)].contains(y)) return true;
    }
    return false;
  }

  void join(ValueId a, ValueId b) {
    a = root_[at(a)], b = root_[at(b)];
    if (a == b) return;
    for (ValueId v : members_[at(b)]) root_[at(v)] = a;
    members_[at(a)].insert(members_[at(a)].end(), members_[at(b)].begin(), members_[at(b)].end());
    members_[at(b)].clear();
  }

  const Graph& graph_;
  const Segments& segments_;
  const std::vector<int>& origins_;
  const std::vector<bool>& apart_;
  std::vector<ValueId> root_;
  std::vector<std::vector<ValueId>> members_;
  std::vector<std::set<ValueId>> conflicts_;
  std::vector<std::set<ValueId>> live_;
};

}  // namespace

std::vector<ValueId> memory_webs(const Graph& graph, const Segments& segments, const std::vector<int>& origins,
                                 const std::vector<bool>& apart) {
  return Webs(graph, segments, origins, apart).run();
}

}  // namespace accel
