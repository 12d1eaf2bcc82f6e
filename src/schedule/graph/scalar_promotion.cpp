#include "schedule/graph/scalar_promotion.h"

#include <algorithm>
#include <map>

#include "ir/edit.h"
#include "schedule/analysis/promotable.h"

namespace accel {

namespace {

class Promotion {
 public:
  Promotion(Graph& graph, const NaturalLoop& loop, const PromotableElements& elements)
      : graph_(graph),
        loop_(loop),
        elements_(elements),
        number_{ValueKind::numpy_scalar, graph.type(elements.param).dtype, {}, {}},
        is_pinned_(pinned_inputs(graph)[static_cast<size_t>(elements.param)] != not_pinned) {}

  // False, and nothing is promoted, when it is not clear which version of the array is used after the loop.
  bool run(bool is_outermost) {
    if (is_pinned_ && is_outermost && reads_elements()) poll_at_latches();
    if (!find_exits()) return false;
    enter();
    name_numbers();
    take_out();
    for (const auto& [to, edges] : exits_) leave_to(to, edges);
    pass_numbers();
    std::vector<ValueId> replacement = no_replacement(graph_);
    for (ValueId v : elements_.versions) replacement[static_cast<size_t>(v)] = elements_.start;
    for (const auto& [from, to] : replaced_) replacement[static_cast<size_t>(from)] = to;
    replace_uses(graph_, replacement);
    return true;
  }

 private:
  using Numbers = std::vector<ValueId>;  // the promoted elements' values

  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  Node& node(NodeId n) { return graph_.nodes[static_cast<size_t>(n)]; }
  bool is_inside(BlockId b) const { return loop_.blocks.contains(b); }
  bool is_version(ValueId v) const { return elements_.versions.contains(v); }

  // --- exit edges ---------------------------------------------------------------------------------------------------------

  // Whether an iteration may read elements that an earlier one stored; if none does, threads may share the loop instead.
  bool reads_elements() {
    return std::any_of(loop_.blocks.begin(), loop_.blocks.end(), [&](BlockId b) {
      return std::any_of(block(b).nodes.begin(), block(b).nodes.end(),
                         [&](NodeId n) { return node(n).op == Op::astype && elements_.views.contains(node(n).operands[0]); });
    });
  }

  // Replaces polls at back edges by branches to exit blocks of their own, so that promoted elements are stored before the exit.
  void poll_at_latches() {
    for (BlockId latch : loop_.latches) {
      const Terminator back = block(latch).terminator;
      if (back.kind != TerminatorKind::jump || back.poll == 0) continue;
      Attributes attrs;
      attrs.call = 1;
      const ValueId polled =
          graph_.add_node(latch, Op::interrupted, {}, attrs, {{ValueKind::py_scalar, DType::bool_, {}, {}}}, {});
      Terminator leave, branch;
      leave.kind = TerminatorKind::leave;
      leave.exit = back.poll;
      branch.kind = TerminatorKind::branch;
      branch.operands = {polled};
      branch.targets[0] = static_cast<BlockId>(graph_.blocks.size());
      branch.targets[1] = back.targets[0];
      branch.target_arguments[1] = back.target_arguments[0];
      graph_.blocks.emplace_back().terminator = std::move(leave);
      block(latch).terminator = std::move(branch);
    }
  }

  bool find_exits() {
    for (BlockId b : loop_.blocks)
      for (int k = 0; k < target_count(block(b).terminator); ++k)
        if (BlockId to = block(b).terminator.targets[k]; !is_inside(to)) exits_[to].push_back({b, k});
    const Dominance dominance(graph_);
    const auto before = predecessors(graph_);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b)
      for (ValueId v : is_inside(b) ? std::vector<ValueId>() : versions_used(b))
        if (!find_exit_block(b, v, dominance, before)) return false;
    return std::all_of(used_after_.begin(), used_after_.end(),
                       [&](const auto& used) { return can_join(exits_.at(used.first)); });
  }

  std::vector<ValueId> versions_used(BlockId b) {
    std::vector<ValueId> out;
    auto note = [&](const std::vector<ValueId>& values) {
      std::copy_if(values.begin(), values.end(), std::back_inserter(out), [&](ValueId v) { return is_version(v); });
    };
    for (NodeId n : block(b).nodes) note(node(n).operands);
    const Terminator& t = block(b).terminator;
    for (const std::vector<ValueId>* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]}) note(*list);
    return out;
  }

  // Finds the block after the loop that dominates `user` and is only reached by exit edges with this version.
  bool find_exit_block(BlockId user, ValueId version, const Dominance& dominance,
                       const std::vector<std::vector<BlockId>>& before) {
    for (const auto& [to, edges] : exits_) {
      const auto& from = before[static_cast<size_t>(to)];
      bool is_only_exit =
          dominance.dominates(to, user) && std::all_of(from.begin(), from.end(), [&](BlockId b) { return is_inside(b); }) &&
          std::all_of(edges.begin(), edges.end(), [&](GraphEdge e) { return elements_.end.at(e.from) == version; });
      if (!is_only_exit) continue;
      used_after_[to].insert(user);
      return true;
    }
    return false;
  }

  // Whether edges can be joined: all pass the array in the same arguments.
  bool can_join(const std::vector<GraphEdge>& edges) {
    const std::set<size_t> first = places(edges[0]);
    return std::all_of(edges.begin(), edges.end(), [&](GraphEdge e) { return places(e) == first; });
  }

  std::set<size_t> places(GraphEdge edge) {
    std::set<size_t> out;
    const std::vector<ValueId>& given = block(edge.from).terminator.target_arguments[edge.number];
    for (size_t k = 0; k < given.size(); ++k)
      if (is_version(given[k])) out.insert(k);
    return out;
  }

  // Stores the elements on the edges to a block: once for all edges when the block uses the array without receiving it as an
  // argument.
  void leave_to(BlockId to, const std::vector<GraphEdge>& edges) {
    if (edges.size() > 1 && used_after_.contains(to)) return leave_together(to, edges);
    for (GraphEdge edge : edges) {
      const ValueId version = elements_.end.at(edge.from);
      const std::set<size_t> at = places(edge);
      if (!is_pinned_ && !used_after_.contains(to) && at.empty()) continue;  // the array is not used any more
      const BlockId made = split_edge(graph_, edge);
      const ValueId stored = store_in(made, numbers_.at(version));
      for (size_t place : at) block(made).terminator.target_arguments[0][place] = stored;
      rename_after(to, version, stored);
    }
  }

  void leave_together(BlockId to, const std::vector<GraphEdge>& edges) {
    const std::set<size_t> at = places(edges[0]);
    const BlockId made = join_edges(graph_, edges);
    Numbers numbers = add_params(made);
    for (GraphEdge edge : edges) give_numbers(edge);
    for (auto place = at.rbegin(); place != at.rend(); ++place) remove_param(graph_, made, *place);
    const ValueId stored = store_in(made, numbers);
    for (size_t place : at) block(made).terminator.target_arguments[0][place] = stored;
    rename_after(to, elements_.end.at(edges[0].from), stored);
  }

  void rename_after(BlockId to, ValueId version, ValueId stored) {
    auto rename = [&](std::vector<ValueId>& values) { std::replace(values.begin(), values.end(), version, stored); };
    for (BlockId b : used_after_[to]) {
      for (NodeId n : block(b).nodes) rename(node(n).operands);
      Terminator& t = block(b).terminator;
      for (std::vector<ValueId>* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]}) rename(*list);
    }
  }

  // --- the elements -------------------------------------------------------------------------------------------------------

  Numbers add_params(BlockId b) {
    Numbers out(elements_.stores.size());
    for (ValueId& v : out) v = graph_.add_param(b, number_);
    return out;
  }

  // Passes the values at an edge's source to its target.
  void give_numbers(GraphEdge edge) {
    const Numbers& numbers = numbers_.at(elements_.end.at(edge.from));
    std::vector<ValueId>& given = block(edge.from).terminator.target_arguments[edge.number];
    given.insert(given.end(), numbers.begin(), numbers.end());
  }

  ValueId store_in(BlockId home, const Numbers& numbers) {
    ValueId base = elements_.start;
    for (size_t k = 0; k < numbers.size(); ++k) {
      const Node store = node(elements_.stores[k]);
      const ValueId view = copy_view(graph_, home, store.operands[1], store.operands[0], base);
      base = graph_.add_node(home, Op::store, {base, view, numbers[k]}, store.attrs, {graph_.type(base)}, store.where);
    }
    return base;
  }

  void enter() {
    const BlockId made = split_edge(graph_, elements_.entry);
    for (NodeId n : elements_.stores) {
      const Node store = node(n);
      const ValueId view = copy_view(graph_, made, store.operands[1], store.operands[0], elements_.start);
      const ValueId number = graph_.add_node(made, Op::astype, {view}, {}, {number_}, store.where);
      block(made).terminator.target_arguments[0].push_back(number);
    }
    numbers_[elements_.param] = add_params(loop_.header);
  }

  // --- in the loop --------------------------------------------------------------------------------------------------------

  void name_numbers() {
    for (BlockId b : loop_.blocks)
      for (ValueId v : std::vector<ValueId>(block(b).params))
        if (is_version(v) && v != elements_.param) numbers_[v] = add_params(b);
    for (bool again = true; again;) {
      again = false;
      for (BlockId b : loop_.blocks)
        for (NodeId n : std::vector<NodeId>(block(b).nodes)) again |= is_store(n) && name_stored(n);
    }
  }

  bool is_store(NodeId n) { return node(n).op == Op::store && is_version(node(n).operands[0]); }

  // Records the values after a store once those before it are known; returns whether it recorded any.
  bool name_stored(NodeId n) {
    const Node store = node(n);
    auto before = numbers_.find(store.operands[0]);
    if (before == numbers_.end() || numbers_.contains(store.results[0])) return false;
    Numbers numbers = before->second;
    numbers[elements_.views.at(store.operands[1])] = as_number(n, store.operands[2]);
    numbers_[store.results[0]] = std::move(numbers);
    return true;
  }

  // v converted to the elements' type, before a node.
  ValueId as_number(NodeId before, ValueId v) {
    if (graph_.type(v) == number_) return v;
    const Location where = node(before).where;
    const BlockId home = graph_.values[static_cast<size_t>(node(before).results[0])].block;
    const ValueId number = graph_.add_node(home, Op::astype, {v}, {}, {number_}, where);
    std::vector<NodeId>& nodes = block(home).nodes;
    std::rotate(std::find(nodes.begin(), nodes.end(), before), nodes.end() - 1, nodes.end());
    return number;
  }

  ValueId version_of(ValueId view) const {
    while (!is_version(view)) view = graph_.producer(view).operands[0];
    return view;
  }

  // Replaces loads of promoted elements by their values, and removes their stores.
  void take_out() {
    for (BlockId b : loop_.blocks) {
      for (NodeId n : block(b).nodes) {
        Node& each = node(n);
        if (each.op != Op::astype || !elements_.views.contains(each.operands[0])) continue;
        const ValueId number = numbers_.at(version_of(each.operands[0]))[elements_.views.at(each.operands[0])];
        each.operands[0] = number;
        if (graph_.type(each.results[0]) == number_) replaced_[each.results[0]] = number;
      }
      std::erase_if(block(b).nodes, [&](NodeId n) {
        const Node& each = node(n);
        return is_store(n) || (each.op == Op::astype && replaced_.contains(each.results[0])) ||
               (is_view(each.op) && elements_.views.contains(each.results[0]));
      });
    }
  }

  // Passes the values instead of the array on edges within the loop.
  void pass_numbers() {
    for (BlockId b : loop_.blocks) block(b).terminator.poll = 0;  // the array does not hold the stored values there
    std::map<BlockId, size_t> array_places;
    for (BlockId b : loop_.blocks)
      for (size_t k = 0; k < block(b).params.size(); ++k)
        if (is_version(block(b).params[k])) array_places[b] = k;
    for (BlockId b : loop_.blocks) {
      const Terminator t = block(b).terminator;
      for (int k = 0; k < target_count(t); ++k)
        if (is_inside(t.targets[k]) && array_places.contains(t.targets[k])) give_numbers({b, k});
    }
    for (const auto& [b, place] : array_places) remove_param(graph_, b, place);
  }

  Graph& graph_;
  const NaturalLoop& loop_;
  const PromotableElements& elements_;
  const Type number_;  // type of a promoted element
  const bool is_pinned_;
  std::map<BlockId, std::vector<GraphEdge>> exits_;  // exit edges, by their target
  std::map<BlockId, std::set<BlockId>>
      used_after_;  // by target of exit edges: blocks that use a version without receiving it as an argument
  std::map<ValueId, Numbers> numbers_;   // by version
  std::map<ValueId, ValueId> replaced_;  // replaced loads and their values
};

const NaturalLoop* find_loop(const std::vector<NaturalLoop>& loops, BlockId header) {
  auto found = std::find_if(loops.begin(), loops.end(), [&](const NaturalLoop& each) { return each.header == header; });
  return found == loops.end() ? nullptr : &*found;
}

}  // namespace

Result<bool> promote_scalars(GraphState& state) {
  Graph& graph = state.graph;
  const size_t count = state.notes.size();
  std::vector<NaturalLoop> loops = natural_loops(graph, Dominance(graph));
  std::vector<BlockId> headers;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) headers.push_back(loop->header);
  for (BlockId header : headers)
    for (const NaturalLoop* loop = find_loop(loops, header); loop != nullptr; loop = find_loop(loops, header)) {
      std::optional<PromotableElements> elements = promotable_elements(graph, *loop);
      const bool is_outermost = std::none_of(loops.begin(), loops.end(), [&](const NaturalLoop& other) {
        return other.header != header && other.blocks.contains(header);
      });
      if (!elements || !Promotion(graph, *loop, *elements).run(is_outermost)) break;
      state.notes.push_back("the loop at block " + std::to_string(header) + " keeps elements in registers");
      loops = natural_loops(graph, Dominance(graph));
    }
  return state.notes.size() > count;
}

}  // namespace accel
