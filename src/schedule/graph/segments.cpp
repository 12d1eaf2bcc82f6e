#include "schedule/graph/segments.h"

#include <algorithm>

#include "ir/analysis/above.h"
#include "ir/analysis/flow.h"
#include "schedule/analysis/row_stores.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

bool has_code(const Graph& graph, const Segment& segment) {
  const bool reloads = !segment.updates.empty() && graph.nodes[static_cast<size_t>(segment.updates[0])].op == Op::reload;
  return !reloads && (!segment.nodes.empty() || !segment.updates.empty());
}

bool is_cheap_leaf(Op op) { return op == Op::constant || op == Op::dim || op == Op::full || op == Op::arange; }

Segments::Segments(const Graph& graph) : graph_(graph), segments_(graph.blocks.size()) {
  find_forced();
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    cut(b);
    join_stores(b);
  }
  find_results();
}

bool Segments::is_cloned(ValueId v) const {
  if (graph_.is_input(v)) return false;
  Op op = graph_.producer(v).op;
  if (op == Op::constant || op == Op::dim) return true;
  return is_array_view(graph_, v) || (is_cheap_leaf(op) && !forced_.contains(v));
}

void Segments::find_forced() {
  auto force = [&](ValueId v) {
    if (!graph_.is_input(v) && is_cheap_leaf(graph_.producer(v).op)) forced_.insert(v);
  };
  for (const Block& block : graph_.blocks) {
    for (NodeId n : block.nodes) {
      const Node& node = graph_.nodes[static_cast<size_t>(n)];
      if (op_class(node.op) == OpClass::update || node.op == Op::bind) force(node.operands[0]);
      if (op_class(node.op) == OpClass::boxed)
        for (ValueId v : node.operands) force(v);
      if (op_class(node.op) == OpClass::gather) force(viewed(graph_, node.operands[0]));
    }
    for (const auto* list :
         {&block.terminator.operands, &block.terminator.target_arguments[0], &block.terminator.target_arguments[1]})
      for (ValueId v : *list) force(v);
  }
}

void Segments::cut(BlockId b) {
  std::vector<Segment>& out = segments_[static_cast<size_t>(b)];
  Segment open;
  open.block = b;
  auto close = [&] {
    out.push_back(std::move(open));
    open = {};
    open.block = b;
  };
  for (NodeId n : graph_.blocks[static_cast<size_t>(b)].nodes) {
    const Node& node = graph_.nodes[static_cast<size_t>(n)];
    if (op_class(node.op) == OpClass::update) {
      if (node.op == Op::reload && !open.nodes.empty()) close();
      open.updates = {n};
      close();
    } else if (node.op == Op::bind) {
      open.bind = n;
      close();
    } else if (op_class(node.op) == OpClass::boxed) {
      open.boxed = n;
      close();
    } else if (!is_cloned(node.results[0]) || forced_.contains(node.results[0])) {
      open.nodes.push_back(n);
    }
  }
  close();
}

// Joins consecutive stores that do not use each other's results, where they can go row by row together.
void Segments::join_stores(BlockId b) {
  std::vector<Segment> out;
  for (Segment& next : segments_[static_cast<size_t>(b)]) {
    if (out.empty() || !joins(out.back(), next)) {
      out.push_back(std::move(next));
      continue;
    }
    Segment& last = out.back();
    last.nodes.insert(last.nodes.end(), next.nodes.begin(), next.nodes.end());
    last.updates.push_back(next.updates[0]);
  }
  segments_[static_cast<size_t>(b)] = std::move(out);
}

bool Segments::joins(const Segment& first, const Segment& second) const {
  std::vector<NodeId> stores = first.updates;
  stores.insert(stores.end(), second.updates.begin(), second.updates.end());
  if (first.updates.empty() || second.updates.empty()) return false;
  if (!graph_.target.has_tiles()) return false;  // rows are not computed in order
  std::set<ValueId> stored;
  for (NodeId n : stores)
    if (graph_.nodes[static_cast<size_t>(n)].op != Op::store) return false;
  for (NodeId n : first.updates) stored.insert(graph_.nodes[static_cast<size_t>(n)].results[0]);
  auto needs_stored = [&](NodeId n) {
    const auto& operands = graph_.nodes[static_cast<size_t>(n)].operands;
    return std::any_of(operands.begin(), operands.end(), [&](ValueId v) { return stored.contains(viewed(graph_, v)); });
  };
  if (needs_stored(second.updates[0]) || std::any_of(second.nodes.begin(), second.nodes.end(), needs_stored)) return false;
  std::set<NodeId> own(first.nodes.begin(), first.nodes.end());
  own.insert(second.nodes.begin(), second.nodes.end());
  return row_stores(graph_, stores,
                    [&](ValueId v) {
                      return graph_.is_input(v) ||
                             (!is_cloned(v) && !own.contains(graph_.values[static_cast<size_t>(v)].producer));
                    })
      .has_value();
}

// Marks values of other segments that a user in segment `user` (-1: a terminator, bind or call) needs.
void Segments::note_use(ValueId v, int user, std::vector<int>& segment_of, std::set<ValueId>& shared) {
  is_above(graph_, v, [&](ValueId above) {
    if (graph_.is_input(above)) return Above::nothing;
    bool own_place = forced_.contains(above) && user < 0;
    if (is_cloned(above) && !own_place) return Above::operands;
    if (segment_of[static_cast<size_t>(graph_.values[static_cast<size_t>(above)].producer)] != user) shared.insert(above);
    return Above::nothing;
  });
}

void Segments::find_results() {
  std::vector<int> segment_of(graph_.nodes.size(), -2);
  int next = 0;
  for (auto& list : segments_)
    for (Segment& s : list) {
      for (NodeId n : s.nodes) segment_of[static_cast<size_t>(n)] = next;
      for (NodeId n : s.updates) segment_of[static_cast<size_t>(n)] = next;
      ++next;
    }
  std::set<ValueId> shared;
  next = 0;
  for (size_t b = 0; b < segments_.size(); ++b) {
    for (Segment& s : segments_[b]) {
      auto note = [&](NodeId n, int user) {
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].operands) note_use(v, user, segment_of, shared);
      };
      for (NodeId n : s.nodes) note(n, next);
      for (NodeId n : s.updates) {
        note(n, next);
        shared.insert(graph_.nodes[static_cast<size_t>(n)].operands[0]);
      }
      if (s.bind >= 0) note(s.bind, -1);
      if (s.boxed >= 0) note(s.boxed, -1);
      ++next;
    }
    const Terminator& t = graph_.blocks[b].terminator;
    for (const auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
      for (ValueId v : *list) note_use(v, -1, segment_of, shared);
  }
  for (auto& list : segments_)
    for (Segment& s : list)
      for (NodeId n : s.nodes)
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].results)
          if (shared.contains(v)) s.results.push_back(v);
}

std::vector<ValueId> placed_values(const Graph& graph, const Segment& segment) {
  std::vector<ValueId> out = segment.results;
  if (segment.boxed >= 0) out.push_back(graph.nodes[static_cast<size_t>(segment.boxed)].results[0]);
  return out;
}

ValueId add_outside_value(const Graph& graph, const std::vector<int>& origins, ValueId v, int& next_slot, SegmentGraph& part) {
  Input input;
  Type type = graph.type(v);
  int index = graph.input_index(v);
  if (lives_in_memory(graph, origins, v)) {
    int origin = origins[static_cast<size_t>(v)];
    if (origin >= 0) input = graph.inputs[static_cast<size_t>(origin)];
    input.slot = -1;
    part.arrays.push_back(v);
    type.kind = ValueKind::array;
  } else if (index >= 0) {
    input = graph.inputs[static_cast<size_t>(index)];
  } else {
    input.slot = next_slot;
    next_slot += 2;
    part.scalars.emplace_back(input.slot, v);
    if (type.kind == ValueKind::array) type.kind = ValueKind::numpy_scalar;
  }
  return part.graph.add_input(std::move(input), std::move(type));
}

namespace {

// Whether v is computed elementwise from the lanes that a mask selects.
bool is_of_lanes(const Graph& graph, ValueId v) {
  return is_above(graph, v, [&](ValueId above) {
    if (graph.is_input(above)) return Above::nothing;
    Op op = graph.producer(above).op;
    if (op == Op::lanes) return Above::found;
    return op_class(op) == OpClass::pointwise ? Above::operands : Above::nothing;
  });
}

}  // namespace

bool under_mask(const Graph& graph, ValueId v) {
  return !is_above(graph, v, [&](ValueId above) {
    if (graph.is_input(above) || graph.type(above).rank() == 0) return Above::nothing;
    const Node& node = graph.producer(above);
    if (node.op == Op::lanes) return Above::nothing;
    return node_events(graph, node) != 0 && !is_of_lanes(graph, above) ? Above::found : Above::operands;
  });
}

namespace {

class Extraction {
 public:
  Extraction(const Graph& graph, const Segments& segments, const Segment& segment, const std::vector<int>& origins,
             Disjointness& disjointness)
      : graph_(graph),
        segments_(segments),
        segment_(segment),
        origins_(origins),
        disjointness_(disjointness),
        map_(graph.values.size(), no_value),
        aliases_(graph.values.size(), no_value) {
    out_.graph.dims = graph.dims;
    out_.graph.symbols = graph.symbols;
    out_.graph.hints = graph.hints;
    out_.graph.sources = graph.sources;
    next_slot_ = static_cast<int>(graph.symbols.size());
  }

  SegmentGraph run() {
    for (NodeId n : segment_.nodes) add(n);
    for (NodeId n : segment_.updates) add_update(n);
    // All values are computed before the first store.
    auto& order = out_.graph.entry().nodes;
    std::stable_partition(order.begin(), order.end(),
                          [&](NodeId n) { return op_class(out_.graph.nodes[static_cast<size_t>(n)].op) != OpClass::update; });
    for (ValueId v : segment_.results) {
      out_.outputs.push_back(v);
      out_.graph.entry().terminator.operands.push_back(map_[static_cast<size_t>(v)]);
    }
    return std::move(out_);
  }

 private:
  ValueId imported(ValueId v) {
    ValueId& mine = map_[static_cast<size_t>(v)];
    if (mine != no_value) return mine;
    if (segments_.is_cloned(v)) {
      add(graph_.values[static_cast<size_t>(v)].producer);
      return mine;
    }
    return mine = add_input(v);
  }

  void add(NodeId n) {
    const Node& node = graph_.nodes[static_cast<size_t>(n)];
    bool view = is_array_view(graph_, node.results[0]);
    std::vector<ValueId> operands;
    for (ValueId v : node.operands) {
      bool place = op_class(node.op) == OpClass::update && operands.size() < 2;
      operands.push_back(!view && !place && reads_apart(v) ? alias(v) : imported(v));
    }
    std::vector<Type> types;
    for (ValueId v : node.results) types.push_back(graph_.type(v));
    out_.graph.add_node(0, node.op, std::move(operands), node.attrs, std::move(types), node.where);
    const Node& made = out_.graph.nodes.back();
    for (size_t k = 0; k < node.results.size(); ++k) map_[static_cast<size_t>(node.results[k])] = made.results[k];
  }

  // Whether v is a view of a store's base that is disjoint from the stored part.
  bool reads_apart(ValueId v) {
    if (!is_array_view(graph_, v)) return false;
    return std::any_of(segment_.updates.begin(), segment_.updates.end(), [&](NodeId n) {
      const Node& node = graph_.nodes[static_cast<size_t>(n)];
      return node.op == Op::store && viewed(graph_, v) == node.operands[0] && disjointness_.are_apart(v, node.operands[1]);
    });
  }

  // v, a chain of views on a store's base, as a chain on an alias of the base.
  ValueId alias(ValueId v) {
    ValueId& mine = aliases_[static_cast<size_t>(v)];
    if (mine != no_value) return mine;
    if (!is_array_view(graph_, v)) {
      out_.aliases.insert(static_cast<int>(out_.arrays.size()));
      return mine = add_input(v);
    }
    const Node& node = graph_.producer(v);
    ValueId below = alias(node.operands[0]);
    return mine = out_.graph.add_node(0, node.op, {below}, node.attrs, {graph_.type(v)}, node.where);
  }

  // Adds an update; the mask of a store becomes a selection in its value.
  void add_update(NodeId n) {
    add(n);
    NodeId id = static_cast<NodeId>(out_.graph.nodes.size()) - 1;
    std::vector<ValueId> operands = out_.graph.nodes.back().operands;
    if (out_.graph.nodes.back().op != Op::store || operands.size() < 4) return;
    Type type = out_.graph.type(operands[1]);
    type.kind = ValueKind::array;
    Op select = under_mask(out_.graph, operands[2]) ? Op::merge : Op::where;
    ValueId value = out_.graph.add_node(0, select, {operands[3], operands[2], operands[1]}, {}, {type});
    out_.graph.nodes[static_cast<size_t>(id)].operands = {operands[0], operands[1], value};
  }

  ValueId add_input(ValueId v) { return add_outside_value(graph_, origins_, v, next_slot_, out_); }

  const Graph& graph_;
  const Segments& segments_;
  const Segment& segment_;
  const std::vector<int>& origins_;
  Disjointness& disjointness_;
  SegmentGraph out_;
  std::vector<ValueId> map_, aliases_;
  int next_slot_ = 0;
};

}  // namespace

SegmentGraph extract(const Graph& graph, const Segments& segments, const Segment& segment, const std::vector<int>& origins,
                     Disjointness& disjointness) {
  SegmentGraph out = Extraction(graph, segments, segment, origins, disjointness).run();
  out.graph.target = graph.target;
  out.graph.records_events = graph.records_events;
  return out;
}

}  // namespace accel
