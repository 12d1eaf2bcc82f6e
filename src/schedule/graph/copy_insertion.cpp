#include "schedule/graph/copy_insertion.h"

#include <algorithm>
#include <optional>
#include <set>

#include "ir/analysis/flow.h"
#include "ir/builder.h"
#include "ir/text/text.h"
#include "schedule/graph/segments.h"

namespace accel {

bool is_array_view(const Graph& graph, ValueId v) {
  return !graph.is_input(v) && graph.type(v).rank() > 0 && op_class(graph.producer(v).op) == OpClass::view;
}

ValueId viewed(const Graph& graph, ValueId v) {
  while (is_array_view(graph, v)) v = graph.producer(v).operands[0];
  return v;
}

bool lives_in_memory(const Graph& graph, const std::vector<int>& origins, ValueId v) {
  return graph.type(v).rank() > 0 || origins[static_cast<size_t>(v)] != not_pinned;
}

namespace {

// A point of the program: before node number `at` of the block; the number of nodes means the terminator.
struct Site {
  BlockId block = 0;
  size_t at = 0;
};

class Owner {
 public:
  Owner(Graph& graph, std::vector<std::string>& notes) : graph_(graph), notes_(notes) {}

  Status run() {
    origins_ = pinned_inputs(graph_);
    ACCEL_TRY([[maybe_unused]] Unit certain, check_origins());
    std::replace(origins_.begin(), origins_.end(), mixed_origin, not_pinned);  // versions of inputs that reach it are copied
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      ACCEL_TRY([[maybe_unused]] Unit computed, compute_scalars(b));
    }
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) compute_wholes(b);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) own_outputs(b);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) own_targets(b);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) own_operands(b);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) own_scattered(b);
    for (int round = 0; own_bases(); ++round) {
      if (round > 1000) return fail(Reason::internal_error, "ownership does not settle");
    }
    own_arguments();
    return Unit{};
  }

 private:
  Block& block(BlockId b) { return graph_.blocks[static_cast<size_t>(b)]; }
  Node& node(NodeId n) { return graph_.nodes[static_cast<size_t>(n)]; }
  int origin(ValueId v) const {
    return static_cast<size_t>(v) < origins_.size() ? origins_[static_cast<size_t>(v)] : not_pinned;
  }
  bool in_memory(ValueId v) const { return graph_.type(v).rank() > 0 || origin(v) != not_pinned; }

  Status check_origins() {
    for (const Block& b : graph_.blocks) {
      for (NodeId n : b.nodes) {
        if (op_class(node(n).op) == OpClass::update && origin(node(n).operands[0]) == mixed_origin)
          return fail(Reason::unsupported_call, "a store to an array that is an argument on one path and none on another");
      }
    }
    return Unit{};
  }

  // An array without axes that is not memory of an input has no memory: a store to it becomes a computation of its new value.
  Status compute_scalars(BlockId b) {
    for (size_t at = 0; at < block(b).nodes.size(); ++at) {
      NodeId id = block(b).nodes[at];
      if (node(id).op != Op::store || in_memory(node(id).operands[0])) continue;
      ACCEL_TRY([[maybe_unused]] Unit computed, compute_scalar(id, b, at));
    }
    return Unit{};
  }

  // Replaces store `id`, node `at` of a block, to an array without axes. A store to one part of a complex number composes it
  // anew.
  Status compute_scalar(NodeId id, BlockId b, size_t& at) {
    std::vector<ValueId> operands = node(id).operands;
    for (size_t k = 2; k < operands.size(); ++k) {
      ACCEL_TRY(operands[k], scalar_before(operands[k], b, at));
    }
    const std::optional<Op> part = part_of(operands[1], operands[0]);
    const bool masked = operands.size() > 3;
    if (!part) {
      node(id).op = masked ? Op::where : Op::copy;
      node(id).operands = masked ? std::vector<ValueId>{operands[3], operands[2], operands[0]} : std::vector{operands[2]};
      return Unit{};
    }
    const DType dtype = part_dtype(graph_.type(operands[0]).dtype);
    auto read = [&](Op op) { return compute_before(op, {operands[0]}, dtype, b, at); };
    ValueId changed = operands[2];
    if (masked) changed = compute_before(Op::where, {operands[3], changed, read(*part)}, dtype, b, at);
    const ValueId other = read(*part == Op::real ? Op::imag : Op::real);
    node(id).op = Op::compose;
    node(id).operands = *part == Op::real ? std::vector{changed, other} : std::vector{other, changed};
    return Unit{};
  }

  // The part, real or imaginary, of a complex number that v is a view of; nullopt for the whole number.
  std::optional<Op> part_of(ValueId v, ValueId base) const {
    for (; v != base; v = graph_.producer(v).operands[0])
      if (Op op = graph_.producer(v).op; op == Op::real || op == Op::imag) return op;
    return std::nullopt;
  }

  // Adds a computation without axes before node `at` of a block, and increments `at`.
  ValueId compute_before(Op op, std::vector<ValueId> operands, DType dtype, BlockId b, size_t& at) {
    const Location where = node(block(b).nodes[at]).where;
    const ValueId made = graph_.add_node(b, op, std::move(operands), {}, {Type{ValueKind::array, dtype, {}, {}}}, where);
    move_before(b, at);
    return made;
  }

  // Moves the last node of a block before node `at`, and increments `at`.
  void move_before(BlockId b, size_t& at) {
    std::vector<NodeId>& nodes = block(b).nodes;
    std::rotate(nodes.begin() + static_cast<std::ptrdiff_t>(at++), nodes.end() - 1, nodes.end());
  }

  // Turns a store over a whole array that the block itself has computed into a selection of new and old elements, so that the
  // array needs no memory before the store.
  void compute_wholes(BlockId b) {
    for (NodeId id : block(b).nodes) {
      ValueId base = node(id).op == Op::store ? node(id).operands[0] : no_value;
      if (base == no_value || node(id).operands[1] != base || !is_computed(base, b)) continue;
      std::vector<ValueId> operands = node(id).operands;
      bool masked = operands.size() > 3;
      node(id).op = !masked ? Op::copy : under_mask(graph_, operands[2]) ? Op::merge : Op::where;
      node(id).operands = masked ? std::vector<ValueId>{operands[3], operands[2], base} : std::vector{operands[2]};
    }
  }

  bool is_computed(ValueId v, BlockId b) const {
    if (graph_.is_input(v) || graph_.values[static_cast<size_t>(v)].block != b || origin(v) != not_pinned) return false;
    OpClass kind = op_class(graph_.producer(v).op);
    return kind == OpClass::pointwise || kind == OpClass::reduction || kind == OpClass::gather || kind == OpClass::leaf;
  }

  // v, an array of one element, reshaped to no axes before node `at` of a block, which is incremented.
  Result<ValueId> scalar_before(ValueId v, BlockId b, size_t& at) {
    Type type = graph_.type(v);
    if (type.rank() == 0) return v;
    bool one = std::all_of(type.shape.begin(), type.shape.end(), [&](Dim d) { return graph_.dims.is_constant(d, 1); });
    if (!one) return fail(Reason::unsupported_layout, "a store to a part of an array without axes");
    ValueId made = Builder(graph_, b).reshape(v, {});
    move_before(b, at);
    return made;
  }

  void note(ValueId v, const char* why) { notes_.push_back("value %" + std::to_string(v) + " is copied: " + why); }

  // A copy of v computed before node `at` of a block.
  ValueId copy_before(ValueId v, BlockId b, size_t at, const char* why) {
    note(v, why);
    ValueId made = Builder(graph_, b).copy(v);
    std::vector<NodeId>& nodes = block(b).nodes;
    std::rotate(nodes.begin() + static_cast<std::ptrdiff_t>(at), nodes.end() - 1, nodes.end());
    return made;
  }

  // --- exits ----------------------------------------------------------------------------------------------------------

  void own_outputs(BlockId b) {
    if (!is_exit(block(b).terminator)) return;
    std::set<ValueId> seen;
    for (size_t k = 0; k < block(b).terminator.operands.size(); ++k) {
      ValueId v = block(b).terminator.operands[k];
      if (!in_memory(v)) continue;
      bool own = origin(v) == not_pinned && !is_array_view(graph_, v) && seen.insert(v).second;
      if (!own) block(b).terminator.operands[k] = copy_before(v, b, block(b).nodes.size(), "an exit hands it over");
    }
  }

  // Copies views that are operands of calls, as calls take whole buffers.
  void own_operands(BlockId b) {
    for (size_t at = 0; at < block(b).nodes.size(); ++at) {
      NodeId id = block(b).nodes[at];
      for (size_t k = 0; op_has_call(node(id).op) && k < node(id).operands.size(); ++k) {
        ValueId v = node(id).operands[k];
        if (!is_array_view(graph_, v)) continue;
        ValueId made = copy_before(v, b, at++, "a call gets it");
        node(id).operands[k] = made;
      }
    }
  }

  // --- stores ---------------------------------------------------------------------------------------------------------

  // Copies values and indices that a store at run-time indices reads from the memory that it stores to, as NumPy reads all of
  // them before it writes.
  void own_scattered(BlockId b) {
    for (size_t at = 0; at < block(b).nodes.size(); ++at) {
      NodeId id = block(b).nodes[at];
      if (node(id).op != Op::put && node(id).op != Op::update_at) continue;
      const ValueId base = node(id).operands[0];
      for (size_t k = 1; k < node(id).operands.size(); ++k) {
        if (node(id).operands[k] != base) continue;  // views are computed before the store
        ValueId made = copy_before(base, b, at++, "stored at run-time indices of itself");
        node(id).operands[k] = made;
      }
    }
  }

  // Gives stores to a view without axes a view of their own: other uses read such a view as a scalar, the store needs its
  // address.
  void own_targets(BlockId b) {
    for (size_t at = 0; at < block(b).nodes.size(); ++at) {
      NodeId id = block(b).nodes[at];
      if (node(id).op != Op::store || is_place_of(node(id).operands[1], b, at)) continue;
      ValueId target = place_before(node(id).operands[1], b, at);
      node(id).operands[1] = target;
    }
  }

  // Whether the view is used only by node `at`, a store, and made in the same segment.
  bool is_place_of(ValueId v, BlockId b, size_t at) const {
    if (graph_.is_input(v) || graph_.type(v).rank() > 0 || graph_.use_counts()[static_cast<size_t>(v)] > 1) return false;
    const std::vector<NodeId>& nodes = graph_.blocks[static_cast<size_t>(b)].nodes;
    for (size_t k = at; k-- > 0;) {
      if (nodes[k] == graph_.values[static_cast<size_t>(v)].producer) return true;
      const Node& between = graph_.nodes[static_cast<size_t>(nodes[k])];
      if (op_class(between.op) == OpClass::update || op_class(between.op) == OpClass::boxed || between.op == Op::bind)
        return false;
    }
    return false;
  }

  // Repeats the views without axes at the end of the chain to v before node `at` of a block, and increments `at`.
  ValueId place_before(ValueId v, BlockId b, size_t& at) {
    bool view = !graph_.is_input(v) && op_class(graph_.producer(v).op) == OpClass::view;
    if (!view || graph_.type(v).rank() > 0) return v;
    ValueId below = place_before(graph_.producer(v).operands[0], b, at);
    const Node made = graph_.producer(v);
    ValueId twin = graph_.add_node(b, made.op, {below}, made.attrs, {graph_.type(v)}, made.where);
    move_before(b, at);
    return twin;
  }

  // The number of v's producer in its block; nullopt for a parameter or an input.
  std::optional<size_t> place_of(ValueId v) const {
    const Value& value = graph_.values[static_cast<size_t>(v)];
    if (value.producer < 0) return std::nullopt;
    const std::vector<NodeId>& nodes = graph_.blocks[static_cast<size_t>(value.block)].nodes;
    return static_cast<size_t>(std::find(nodes.begin(), nodes.end(), value.producer) - nodes.begin());
  }

  // Whether `use` can be reached from `from` without passing the definition of v.
  bool reaches(const Site& from, const Site& use, ValueId v) const {
    BlockId home = graph_.values[static_cast<size_t>(v)].block;
    if (std::optional<size_t> made = place_of(v); made && home == from.block && *made >= from.at) return false;
    if (use.block == from.block && use.at > from.at) return true;
    std::set<BlockId> seen;
    std::vector<BlockId> open = {from.block};
    while (!open.empty()) {
      const Terminator& t = graph_.blocks[static_cast<size_t>(open.back())].terminator;
      open.pop_back();
      for (int k = 0; k < target_count(t); ++k) {
        if (t.targets[k] == home || !seen.insert(t.targets[k]).second) continue;
        if (t.targets[k] == use.block) return true;
        open.push_back(t.targets[k]);
      }
    }
    return false;
  }

  // Rewrites the first store whose base is used later; false when there is none.
  bool own_bases() {
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      for (size_t at = 0; at < block(b).nodes.size(); ++at) {
        const Node& n = node(block(b).nodes[at]);
        if (op_class(n.op) == OpClass::update && own_base({b, at})) return true;
      }
    }
    return false;
  }

  // Ensures that the base of a store is not used after it; false when that is already so. All versions of an input share its
  // memory, so any version that is used after the store is an old one.
  bool own_base(const Site& store) {
    NodeId id = block(store.block).nodes[store.at];
    ValueId base = node(id).operands[0];
    if (is_array_view(graph_, base)) return rebase(store, base, "a view is stored to");
    ValueId old = no_value;  // a version of the base's memory that is used after the store
    for_each_use([&](const Site& use, ValueId& v) {
      bool itself = use.block == store.block && use.at == store.at;
      ValueId used = viewed(graph_, v);
      bool of_memory = used == base || (origin(base) != not_pinned && origin(used) == origin(base));
      if (old == no_value && !itself && of_memory && reaches(store, use, used)) old = used;
    });
    if (old == no_value) return false;
    if (origin(base) == not_pinned) return rebase(store, base, "its old contents are used after a store");
    keep_old(store, old);
    return true;
  }

  // Redirects the store to a copy of its base.
  bool rebase(const Site& store, ValueId base, const char* why) {
    NodeId id = block(store.block).nodes[store.at];
    ValueId made = copy_before(base, store.block, store.at, why);
    if (node(id).op == Op::store) node(id).operands[1] = view_on(node(id).operands[1], base, made, {store.block, store.at + 1});
    node(id).operands[0] = made;
    return true;
  }

  // Redirects uses after the store of a version of an input to a copy, taken where the version is defined.
  void keep_old(const Site& store, ValueId base) {
    const std::optional<size_t> made = place_of(base);
    NodeId id = block(store.block).nodes[store.at];
    ValueId old = copy_before(base, graph_.values[static_cast<size_t>(base)].block, made ? *made + 1 : 0,
                              "its old contents are used after a store");
    const auto& nodes = block(store.block).nodes;
    Site moved{store.block, static_cast<size_t>(std::find(nodes.begin(), nodes.end(), id) - nodes.begin())};
    std::vector<std::pair<Site, std::pair<NodeId, size_t>>> node_uses;
    std::vector<std::pair<BlockId, ValueId>> end_uses;
    for_each_use([&](const Site& use, ValueId& v) {
      bool itself = use.block == moved.block && use.at == moved.at;
      if (itself || viewed(graph_, v) != base || !reaches(moved, use, base)) return;
      if (use.at < block(use.block).nodes.size()) {
        NodeId user = block(use.block).nodes[use.at];
        for (size_t k = 0; k < node(user).operands.size(); ++k)
          if (&node(user).operands[k] == &v) node_uses.push_back({use, {user, k}});
      } else {
        end_uses.emplace_back(use.block, v);
      }
    });
    for (auto& [use, operand] : node_uses) {
      const auto& own = block(use.block).nodes;
      Site now{use.block, static_cast<size_t>(std::find(own.begin(), own.end(), operand.first) - own.begin())};
      ValueId changed = view_on(node(operand.first).operands[operand.second], base, old, now);
      node(operand.first).operands[operand.second] = changed;
    }
    for (auto& [b, v] : end_uses) {
      ValueId changed = view_on(v, base, old, {b, block(b).nodes.size()});
      Terminator& t = block(b).terminator;
      for (auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        std::replace(list->begin(), list->end(), v, changed);
    }
  }

  // Repeats the chain of views from `base` to v on `other`, before `site`.
  ValueId view_on(ValueId v, ValueId base, ValueId other, Site site) {
    if (v == base) return other;
    Node clone = node(graph_.values[static_cast<size_t>(v)].producer);
    Type type = graph_.type(v);
    ValueId below = view_on(clone.operands[0], base, other, site);
    std::vector<NodeId>& nodes = block(site.block).nodes;
    size_t before = nodes.size();
    ValueId made = graph_.add_node(site.block, clone.op, {below}, clone.attrs, {type}, clone.where);
    size_t at = std::min(site.at + chain_length(below, other), before);
    std::rotate(nodes.begin() + static_cast<std::ptrdiff_t>(at), nodes.end() - 1, nodes.end());
    return made;
  }
  size_t chain_length(ValueId v, ValueId base) const {
    size_t length = 0;
    for (; v != base; v = graph_.producer(v).operands[0]) ++length;
    return length;
  }

  // Calls act(site, operand) for every use by a node other than a view of rank > 0, and by a terminator.
  template <class Act>
  void for_each_use(Act act) {
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      for (size_t k = 0; k < block(b).nodes.size(); ++k) {
        Node& n = node(block(b).nodes[k]);
        if (is_array_view(graph_, n.results[0])) continue;
        for (ValueId& v : n.operands) act(Site{b, k}, v);
      }
      Terminator& t = block(b).terminator;
      for (auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        for (ValueId& v : *list) act(Site{b, block(b).nodes.size()}, v);
    }
  }

  // --- edges ----------------------------------------------------------------------------------------------------------

  // Finds, per block, the arrays defined before it that are used in it or after it.
  void find_live() {
    size_t n = graph_.blocks.size();
    live_.assign(n, {});
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = n; b-- > 0;) {
        std::set<ValueId> live = live_out(static_cast<BlockId>(b));
        add_uses(static_cast<BlockId>(b), live);
        for (ValueId v : graph_.blocks[b].params) live.erase(v);
        for (NodeId id : graph_.blocks[b].nodes)
          for (ValueId v : node(id).results) live.erase(v);
        if (live != live_[b]) live_[b] = std::move(live), changed = true;
      }
    }
  }
  std::set<ValueId> live_out(BlockId b) {
    std::set<ValueId> live;
    const Terminator& t = block(b).terminator;
    for (int k = 0; k < target_count(t); ++k) {
      const auto& next = live_[static_cast<size_t>(t.targets[k])];
      live.insert(next.begin(), next.end());
      for (ValueId v : t.target_arguments[k])
        if (in_memory(v)) live.insert(viewed(graph_, v));
    }
    return live;
  }
  void add_uses(BlockId b, std::set<ValueId>& live) {
    auto add = [&](ValueId v) {
      if (in_memory(v)) live.insert(viewed(graph_, v));
    };
    for (NodeId id : block(b).nodes)
      if (!is_array_view(graph_, node(id).results[0]))
        for (ValueId v : node(id).operands) add(v);
    for (ValueId v : block(b).terminator.operands) add(v);
  }

  void own_arguments() {
    find_live();
    size_t count = graph_.blocks.size();
    for (BlockId b = 0; b < static_cast<BlockId>(count); ++b)
      for (int k = 0; k < target_count(block(b).terminator); ++k) own_arguments(b, k);
  }

  bool gives_memory(ValueId v, ValueId param, BlockId target, std::set<ValueId>& seen) const {
    if (origin(param) >= 0 && origin(v) == origin(param)) return true;
    bool own = origin(v) == not_pinned && !is_array_view(graph_, v) && graph_.input_index(v) < 0;
    return own && !live_[static_cast<size_t>(target)].contains(v) && seen.insert(v).second;
  }

  void own_arguments(BlockId b, int k) {
    BlockId target = block(b).terminator.targets[k];
    std::set<ValueId> seen;
    for (size_t i = 0; i < block(target).params.size(); ++i) {
      ValueId v = block(b).terminator.target_arguments[k][i], param = block(target).params[i];
      if (!in_memory(param) || gives_memory(v, param, target, seen)) continue;
      if (block(b).terminator.kind == TerminatorKind::branch) {
        b = split(b, k);
        k = 0;
      }
      ValueId made = copy_before(v, b, block(b).nodes.size(), "a block gets it, and it is used elsewhere");
      block(b).terminator.target_arguments[0][i] = made;
    }
  }

  // Inserts a block on edge k of block b.
  BlockId split(BlockId b, int k) {
    BlockId made = Builder(graph_).new_block();
    Terminator& from = block(b).terminator;
    Terminator& to = block(made).terminator;
    to.kind = TerminatorKind::jump;
    to.targets[0] = from.targets[k];
    to.target_arguments[0] = std::move(from.target_arguments[k]);
    from.targets[k] = made;
    from.target_arguments[k].clear();
    return made;
  }

  Graph& graph_;
  std::vector<std::string>& notes_;
  std::vector<int> origins_;
  std::vector<std::set<ValueId>> live_;
};

}  // namespace

Result<bool> own_memory(GraphState& state) {
  // Every edit either adds a node or turns a store into another op.
  auto counts = [&] {
    const std::vector<Node>& nodes = state.graph.nodes;
    return std::pair(nodes.size(), std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.op == Op::store; }));
  };
  const auto before = counts();
  ACCEL_TRY([[maybe_unused]] Unit owned, Owner(state.graph, state.notes).run());
  return counts() != before;
}

}  // namespace accel
