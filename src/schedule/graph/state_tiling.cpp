#include "schedule/graph/state_tiling.h"

#include <algorithm>

#include "ir/analysis/above.h"
#include "ir/analysis/flow.h"
#include "ir/analysis/loops.h"
#include "schedule/analysis/counted_loops.h"
#include "schedule/analysis/loop_calls.h"
#include "schedule/graph/graph_state.h"

namespace accel {

namespace {

bool is_whole_store(const Node& node) { return node.op == Op::store && node.operands[1] == node.operands[0]; }

class Recogniser {
 public:
  Recogniser(Graph& graph, const NaturalLoop& loop) : graph_(graph), loop_(loop) {}

  std::optional<PointwiseLoop> run() {
    if (loop_.blocks.size() != 2 || loop_.latches.size() != 1 || loop_.latches[0] == loop_.header) return std::nullopt;
    out_.header = loop_.header;
    out_.body = loop_.latches[0];
    if (!check_blocks() || !check_counter() || !check_states() || !check_body() || !check_uses()) return std::nullopt;
    find_changing();
    return out_;
  }

 private:
  const Block& block(BlockId b) const { return graph_.blocks[static_cast<size_t>(b)]; }
  const Node& node(NodeId n) const { return graph_.nodes[static_cast<size_t>(n)]; }
  bool inside(ValueId v) const { return loop_.blocks.contains(graph_.values[static_cast<size_t>(v)].block); }

  bool check_blocks() {
    const Terminator& head = block(out_.header).terminator;
    const Terminator& back = block(out_.body).terminator;
    if (head.kind != TerminatorKind::branch || (back.kind != TerminatorKind::jump && !polls(back))) return false;
    if (back.kind == TerminatorKind::branch) out_.leaves_to = back.targets[0];
    out_.exit_edge = 1;
    return head.targets[0] == out_.body && !loop_.blocks.contains(head.targets[1]) && block(out_.body).params.empty();
  }

  // Whether the body ends with a poll that may leave the loop.
  bool polls(const Terminator& back) const {
    if (back.kind != TerminatorKind::branch || back.targets[1] != out_.header || loop_.blocks.contains(back.targets[0]))
      return false;
    return !graph_.is_input(back.operands[0]) && graph_.producer(back.operands[0]).op == Op::interrupted;
  }

  const std::vector<ValueId>& values_of_next() const {
    const Terminator& back = block(out_.body).terminator;
    return back.target_arguments[back.kind == TerminatorKind::branch ? 1 : 0];
  }

  // Whether the header compares an int64 parameter, or an expression of it, with a bound from outside, and the body adds 1 to
  // the parameter.
  bool check_counter() {
    ValueId condition = block(out_.header).terminator.operands[0];
    if (graph_.is_input(condition) || (!compares_counter(condition) && !counts())) return false;
    const auto& params = block(out_.header).params;
    auto place = std::find(params.begin(), params.end(), out_.counter);
    for (NodeId n : block(out_.header).nodes) {
      Op op = node(n).op;
      if (op == Op::bind && node(n).operands[0] == out_.counter && !out_.bound)
        out_.bound = graph_.dims.as_symbol(node(n).attrs.dims[0]);
      else if (op != Op::constant && op != Op::dim && node(n).results[0] != condition)
        return false;
    }
    out_.next_counter = values_of_next()[static_cast<size_t>(place - params.begin())];
    return step_of(graph_, loop_, out_.counter) == 1;
  }

  // Whether the header compares the counter itself; the bound need not be a symbolic expression.
  bool compares_counter(ValueId condition) {
    const Node& test = graph_.producer(condition);
    if (test.op != Op::less) return false;
    const auto& params = block(out_.header).params;
    ValueId counter = test.operands[0], end = test.operands[1];
    bool ints = graph_.type(counter).dtype == DType::int64 && graph_.type(end).dtype == DType::int64;
    if (!ints || std::find(params.begin(), params.end(), counter) == params.end()) return false;
    bool leaf = !graph_.is_input(end) && (graph_.producer(end).op == Op::constant || graph_.producer(end).op == Op::dim);
    if (inside(end) && !leaf) return false;
    out_.counter = counter, out_.end = end;
    return true;
  }

  bool counts() {
    std::optional<CountedLoop> counted = counted_loop(graph_, loop_);
    if (!counted || counted->step != 1) return false;
    out_.counter = counted->counter, out_.end_dim = counted->end;
    return true;
  }

  bool check_states() {
    const auto& params = block(out_.header).params;
    for (size_t k = 0; k < params.size(); ++k) {
      if (params[k] == out_.counter) continue;
      if (graph_.type(params[k]).rank() == 0) return false;
      out_.states.push_back(params[k]);
      out_.next.push_back(values_of_next()[k]);
    }
    if (out_.states.empty()) return false;
    const Type& first = graph_.type(out_.states[0]);
    return std::all_of(out_.states.begin(), out_.states.end(), [&](ValueId v) {
      return graph_.type(v).shape == first.shape && graph_.type(v).axis_order() == first.axis_order();
    });
  }

  bool is_state(ValueId v) const { return std::find(out_.states.begin(), out_.states.end(), v) != out_.states.end(); }

  bool check_body() {
    for (NodeId n : block(out_.body).nodes)
      if (node(n).op != Op::interrupted && !check_node(node(n))) return false;
    return std::all_of(out_.next.begin(), out_.next.end(), [&](ValueId v) { return inside(v); });
  }

  bool check_node(const Node& n) {
    const Type& type = graph_.type(n.results[0]);
    bool shaped = type.rank() == 0 || type.shape == graph_.type(out_.states[0]).shape;
    switch (op_class(n.op)) {
      case OpClass::leaf:
        if (n.op == Op::bind)
          return n.operands[0] == out_.counter && !out_.bound && (out_.bound = graph_.dims.as_symbol(n.attrs.dims[0]));
        return n.op == Op::constant || n.op == Op::dim || (n.op == Op::full && shaped);
      case OpClass::view: {
        if (names_counter(n)) return is_item(n.results[0]);
        const bool is_spread = graph_.type(n.operands[0]).rank() == 0 && n.op == Op::broadcast_to;
        return !inside(n.operands[0]) || is_spread || is_item(n.results[0]);
      }
      case OpClass::pointwise:
        return shaped && !is_loop_call(graph_, n);
      case OpClass::update:
        return is_whole_store(n) && shaped;
      default:
        return false;
    }
  }

  // Whether a value is a single element of an array from outside; the index may depend on the counter.
  bool is_item(ValueId v) const {
    if (!inside(v)) return true;
    const auto has_one = [&](Dim extent) { return graph_.dims.is_constant(extent, 1); };
    const Type& type = graph_.type(v);
    return std::all_of(type.shape.begin(), type.shape.end(), has_one) && !graph_.is_input(v) &&
           graph_.values[static_cast<size_t>(v)].producer >= 0 && op_class(graph_.producer(v).op) == OpClass::view &&
           is_item(graph_.producer(v).operands[0]);
  }

  bool names_counter(const Node& n) const {
    auto names = [&](const std::vector<Dim>& dims) {
      return std::any_of(dims.begin(), dims.end(), [&](Dim d) { return out_.bound && graph_.dims.names(d, *out_.bound); });
    };
    return names(n.attrs.dims) || names(n.attrs.steps) || names(graph_.type(n.results[0]).shape);
  }

  // Whether an exit from the body uses only counters and the states of the next iteration.
  bool check_exit(const Block& exit) const {
    if (exit.terminator.kind != TerminatorKind::leave || !exit.params.empty()) return false;
    auto is_leaf = [&](NodeId n) { return node(n).op == Op::constant || node(n).op == Op::dim; };
    return std::all_of(exit.nodes.begin(), exit.nodes.end(), is_leaf) &&
           std::none_of(exit.terminator.operands.begin(), exit.terminator.operands.end(), [&](ValueId v) {
             const bool is_next = v == out_.next_counter || std::find(out_.next.begin(), out_.next.end(), v) != out_.next.end();
             return inside(v) && !is_next && v != out_.counter;
           });
  }

  // Whether only parameters of the loop's header are used after the loop.
  bool check_uses() const {
    auto escapes = [&](ValueId v) {
      return inside(v) && graph_.values[static_cast<size_t>(v)].producer >= 0 && graph_.producer(v).op != Op::constant &&
             graph_.producer(v).op != Op::dim;
    };
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Block& other = graph_.blocks[b];
      BlockId id = static_cast<BlockId>(b);
      if (id == out_.header) {
        const auto& list = other.terminator.target_arguments[1];
        if (std::any_of(list.begin(), list.end(),
                        [&](ValueId v) { return inside(v) && graph_.values[static_cast<size_t>(v)].producer >= 0; }))
          return false;
      }
      if (loop_.blocks.contains(id)) continue;
      if (id == out_.leaves_to) {
        if (!check_exit(other)) return false;
        continue;
      }
      for (NodeId n : other.nodes)
        if (std::any_of(node(n).operands.begin(), node(n).operands.end(), escapes)) return false;
      for (const auto* list :
           {&other.terminator.operands, &other.terminator.target_arguments[0], &other.terminator.target_arguments[1]})
        if (std::any_of(list->begin(), list->end(), escapes)) return false;
    }
    return true;
  }

  bool depends_on_counter(ValueId v) const {
    return is_above(graph_, v, [&](ValueId above) {
      if (above == out_.counter) return Above::found;
      if (!inside(above) || graph_.is_input(above)) return Above::nothing;
      const Node& n = graph_.producer(above);
      return n.op == Op::bind || names_counter(n) ? Above::found : Above::operands;
    });
  }

  void find_changing() {
    for (size_t k = 0; k < out_.next.size(); ++k) {
      ValueId v = out_.next[k];
      for (; v != out_.states[k]; v = graph_.producer(v).operands[0]) {
        bool masked = !graph_.is_input(v) && is_whole_store(graph_.producer(v)) && graph_.producer(v).operands.size() == 4;
        if (!masked || depends_on_counter(graph_.producer(v).operands[3])) return out_.changing.clear();
        ValueId mask = graph_.producer(v).operands[3];
        if (std::find(out_.changing.begin(), out_.changing.end(), mask) == out_.changing.end()) out_.changing.push_back(mask);
      }
    }
  }

  Graph& graph_;
  const NaturalLoop& loop_;
  PointwiseLoop out_;
};

}  // namespace

Result<bool> tile_states(GraphState& state) {
  Graph& graph = state.graph;
  const std::vector<int> origins = pinned_inputs(graph);
  for (const NaturalLoop& loop : natural_loops(graph, Dominance(graph))) {
    std::optional<PointwiseLoop> found = Recogniser(graph, loop).run();
    if (!found) continue;
    const char* form = graph.target.has_tiles() ? " runs tile by tile" : " runs element by element";
    state.notes.push_back("the loop at block " + std::to_string(loop.header) + form);
    // States that Python can see must be those of finished iterations at a poll, so such a loop runs in slices.
    const bool is_seen = std::any_of(found->states.begin(), found->states.end(),
                                     [&](ValueId v) { return origins[static_cast<size_t>(v)] != not_pinned; });
    if (is_seen) found->poll = graph.blocks[static_cast<size_t>(found->body)].terminator.poll;
    state.tiled_loops.emplace(loop.header, std::move(*found));
  }
  return !state.tiled_loops.empty();
}

Dim work_of(const Graph& graph, const PointwiseLoop& loop, DimTable& dims) {
  const int64_t nodes = static_cast<int64_t>(graph.blocks[static_cast<size_t>(loop.body)].nodes.size());
  return dims.mul(dims.product(graph.type(loop.states[0]).shape), dims.constant(nodes));
}

}  // namespace accel
