#include "schedule/lowering/state_tiles.h"

#include <algorithm>

#include "schedule/analysis/index_maps.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/lowering/nests.h"
#include "schedule/lowering/state_elements.h"

namespace accel {

namespace {

constexpr int64_t lane_count = 64;            // elements of a tile
constexpr int64_t recorded_lane_count = 256;  // when floating-point flags may be read after each operation

// The loop's body as a graph without stores: a masked store becomes a selection between the new and the old elements.
class BodyGraph {
 public:
  BodyGraph(const Graph& graph, const std::vector<int>& origins, const PointwiseLoop& loop, Dim first, SegmentGraph& part)
      : graph_(graph), origins_(origins), loop_(loop), part_(part), map_(graph.values.size(), no_value) {
    Graph& out = part.graph;
    out.target = graph.target;
    out.records_events = graph.records_events;
    out.dims = graph.dims;
    out.symbols = graph.symbols;
    out.hints = graph.hints;
    next_slot_ = static_cast<int>(graph.symbols.size());
    iteration_ = out.dims.new_variable();
    counter_ = out.dims.add(first, iteration_);
    for (ValueId v : loop.states) mapped(v);
    Attributes attrs;
    attrs.dims = {counter_};
    map_[static_cast<size_t>(loop.counter)] = out.add_node(0, Op::dim, {}, attrs, {graph.type(loop.counter)});
    for (NodeId n : graph.blocks[static_cast<size_t>(loop.header)].nodes)
      if (graph.nodes[static_cast<size_t>(n)].op == Op::bind) add(graph.nodes[static_cast<size_t>(n)]);
    for (NodeId n : graph.blocks[static_cast<size_t>(loop.body)].nodes) add(graph.nodes[static_cast<size_t>(n)]);
  }

  ValueId mapped(ValueId v) {
    ValueId& mine = map_[static_cast<size_t>(v)];
    if (mine == no_value) {
      if (!graph_.is_input(v) && (is_cheap_leaf(graph_.producer(v).op) || is_array_view(graph_, v)))
        add(graph_.producer(v));
      else
        mine = add_input(v);
    }
    return map_[static_cast<size_t>(v)];
  }
  // The variable that counts iterations from 0.
  Dim iteration() const { return iteration_; }

 private:
  void add(const Node& node) {
    if (node.op == Op::interrupted) return;
    if (node.op == Op::bind) {
      map_[static_cast<size_t>(node.results[0])] = mapped(node.operands[0]);
      return;
    }
    std::vector<ValueId> operands;
    for (ValueId v : node.operands) operands.push_back(mapped(v));
    Type type = graph_.type(node.results[0]);
    ValueId made = no_value;
    if (node.op == Op::store) {
      bool masked = operands.size() == 4;
      if (masked)
        made = part_.graph.add_node(0, under_mask(part_.graph, operands[2]) ? Op::merge : Op::where,
                                    {operands[3], operands[2], operands[0]}, {}, {type}, node.where);
      else
        made = operands[2];
    } else {
      made = part_.graph.add_node(0, node.op, std::move(operands), substituted(node.attrs), {type}, node.where);
    }
    map_[static_cast<size_t>(node.results[0])] = made;
  }

  Attributes substituted(Attributes attrs) {
    if (!loop_.bound) return attrs;
    for (Dim& d : attrs.dims) d = part_.graph.dims.substitute(d, *loop_.bound, counter_);
    return attrs;
  }

  ValueId add_input(ValueId v) { return add_outside_value(graph_, origins_, v, next_slot_, part_); }

  const Graph& graph_;
  const std::vector<int>& origins_;
  const PointwiseLoop& loop_;
  SegmentGraph& part_;
  std::vector<ValueId> map_;
  Dim iteration_, counter_;
  int next_slot_ = 0;
};

// Writes the nest: over tiles, over iterations, over the elements of a tile.
class TileWriter {
 public:
  TileWriter(const Graph& graph, const Placement& placement, Program& program, Dim iteration)
      : graph_(graph),
        lowering_(graph, placement, program),
        dims_(program.dims),
        iteration_(iteration),
        lanes_(graph.records_events ? recorded_lane_count : lane_count) {}

  Nest write(const std::vector<StoreTarget>& targets, const PointwiseLoop& loop, Dim count, std::vector<NestLoop> loops) {
    const std::vector<ValueId>& states = loop.states;
    std::vector<Dim> outer;
    index_.assign(graph_.type(states[0]).shape.size(), dims_.constant(0));
    for (size_t k = 0; k + 1 < loops.size(); ++k)
      index_[static_cast<size_t>(loops[k].axis)] = outer.emplace_back(dims_.new_variable());
    Dim tile = dims_.new_variable(), extent = loops.back().extent;
    lane_ = dims_.new_variable();
    Dim begin = dims_.mul(tile, lanes_);
    extent_ = dims_.min(dims_.constant(lanes_), dims_.sub(extent, begin));
    index_[static_cast<size_t>(loops.back().axis)] = dims_.add(begin, lane_);
    find_kept(loop);

    Body body = load_states();
    body.push_back(iterations(targets, loop, count));
    for (Stmt& stmt : store_states(targets, loop.ends)) body.push_back(std::move(stmt));
    body = nested(tile, dims_.floordiv(dims_.add(extent, dims_.constant(lanes_ - 1)), dims_.constant(lanes_)), std::move(body),
                  outer.empty());
    for (size_t k = outer.size(); k-- > 0;) body = nested(outer[k], loops[k].extent, std::move(body), k == 0);
    Nest nest;
    nest.name = "iterations";
    nest.body = std::move(body);
    Dim nodes = dims_.constant(static_cast<int64_t>(graph_.nodes.size()));
    nest.work = dims_.mul(dims_.mul(dims_.product(graph_.type(states[0]).shape), count), nodes);
    return nest;
  }

 private:
  // A value whose elements of the current tile are in scratch memory; real and imaginary parts are separate.
  struct Kept {
    ValueId value;
    BufferId buffer;
    ValueId start;  // the value of the elements before the first iteration
  };

  Body nested(Dim variable, Dim extent, Body body, bool parallel) {
    Stmt stmt;
    stmt.kind = StmtKind::loop;
    stmt.loop_kind = parallel ? LoopKind::parallel : LoopKind::serial;
    stmt.var = variable;
    stmt.extent = extent;
    stmt.body = std::move(body);
    Body out;
    out.push_back(std::move(stmt));
    return out;
  }

  void find_kept(const PointwiseLoop& loop) {
    const std::vector<ValueId>& states = loop.states;
    std::vector<ValueId> kept = states;
    kept.insert(kept.end(), loop.kept.begin(), loop.kept.end());
    for (ValueId v : graph_.entry().params) {
      bool whole = graph_.type(v).shape == graph_.type(states[0]).shape && dtype_kind(graph_.type(v).dtype) == 'c';
      if (whole && std::find(kept.begin(), kept.end(), v) == kept.end()) kept.push_back(v);
    }
    for (ValueId v : kept) {
      DType dtype = graph_.type(v).dtype;
      bool parts = dtype_kind(dtype) == 'c';
      kept_.push_back({v, lowering_.scratch(part_dtype(dtype), dims_.constant(parts ? 2 * lanes_ : lanes_), "state"), v});
    }
    for (size_t k = 0; k < loop.starts.size(); ++k)
      if (loop.starts[k] != no_value) kept_[k].start = loop.starts[k];
  }

  Address lane(const Kept& kept, int which) {
    int size = item_size(part_dtype(graph_.type(kept.value).dtype));
    return {kept.buffer, dims_.add(dims_.mul(lane_, size), dims_.constant(which * size * lanes_))};
  }

  void put(const Kept& kept, TempId value) {
    DType dtype = graph_.type(kept.value).dtype, real = part_dtype(dtype);
    if (real == dtype) return lowering_.store(lane(kept, 0), value, dtype);
    lowering_.store(lane(kept, 0), lowering_.compute(Op::real, {value}, real, -1), real);
    lowering_.store(lane(kept, 1), lowering_.compute(Op::imag, {value}, real, -1), real);
  }
  TempId get(const Kept& kept) {
    DType dtype = graph_.type(kept.value).dtype, real = part_dtype(dtype);
    TempId first = lowering_.load(lane(kept, 0), real);
    return real == dtype ? first : lowering_.compute(Op::compose, {first, lowering_.load(lane(kept, 1), real)}, dtype, -1);
  }

  Body load_states() {
    lowering_.begin_nest();
    lowering_.open_loop_over(lane_, LoopKind::simd, extent_, false);
    for (const Kept& kept : kept_) put(kept, lowering_.value_at(kept.start, index_));
    lowering_.close_loop();
    return lowering_.end_nest();
  }

  Stmt iterations(const std::vector<StoreTarget>& targets, const PointwiseLoop& loop, Dim count) {
    const std::vector<ValueId>&states = loop.states, &changing = loop.changing;
    lowering_.begin_nest();
    lowering_.open_loop_over(lane_, LoopKind::simd, extent_, false);
    for (const Kept& kept : kept_) lowering_.set_value(kept.value, index_, get(kept));
    std::vector<TempId> next;
    for (const StoreTarget& target : targets) next.push_back(lowering_.value_at(target.value, index_));
    std::optional<Address> bits;
    if (!changing.empty()) bits = put_changing(changing);
    for (size_t k = 0; k < states.size(); ++k) put(kept_[k], next[k]);
    lowering_.close_loop();
    TempId flag = bits ? any(*bits) : -1;
    Stmt repeat;
    repeat.kind = StmtKind::repeat;
    repeat.var = iteration_;
    repeat.extent = count;
    repeat.quiet = loop.is_sliced();
    if (flag >= 0) repeat.args = {flag};
    repeat.body = lowering_.end_nest();
    return repeat;
  }

  // Stores, for each element of the tile, whether it still changes; the address of element `lane_`.
  Address put_changing(const std::vector<ValueId>& changing) {
    Address bits{lowering_.scratch(DType::uint32, dims_.constant(lanes_), "changing"), dims_.mul(lane_, 4)};
    TempId all = -1;
    for (ValueId mask : changing) {
      TempId bit = lowering_.cast(lowering_.value_at(mask, index_), DType::uint32, -1);
      all = all < 0 ? bit : lowering_.compute(Op::bitwise_or, {all, bit}, DType::uint32, -1);
    }
    lowering_.store(bits, all, DType::uint32);
    return bits;
  }
  // Combines the bits in a loop of its own, as they would prevent vectorisation of the main loop.
  TempId any(const Address& bits) {
    TempId flag = lowering_.declare(lowering_.literal(Literal::of_int(DType::uint32, 0)), DType::uint32);
    lowering_.open_loop_over(lane_, LoopKind::simd, extent_, false);
    TempId bit = lowering_.load(bits, DType::uint32);
    lowering_.assign(flag, lowering_.compute(Op::bitwise_or, {flag, bit}, DType::uint32, -1), DType::uint32);
    lowering_.close_loop();
    return flag;
  }

  Body store_states(const std::vector<StoreTarget>& targets, const std::vector<ValueId>& ends) {
    lowering_.begin_nest();
    lowering_.open_loop_over(lane_, LoopKind::simd, extent_, false);
    for (size_t k = 0; k < ends.size(); ++k) lowering_.set_value(kept_[k].value, index_, get(kept_[k]));
    std::vector<TempId> values;
    for (ValueId end : ends) values.push_back(lowering_.value_at(end, index_));
    for (size_t k = 0; k < ends.size(); ++k) {
      Address address{targets[k].buffer, dims_.add(targets[k].base, offset_of(dims_, index_, targets[k].strides))};
      lowering_.store(address, values[k], graph_.type(ends[k]).dtype);
    }
    lowering_.close_loop();
    return lowering_.end_nest();
  }

  const Graph& graph_;
  Lowering lowering_;
  DimTable& dims_;
  Dim iteration_;
  Index index_;
  Dim lane_, extent_;
  const int64_t lanes_;
  std::vector<Kept> kept_;
};

}  // namespace

Program lower_pointwise_loop(const Graph& graph, const std::vector<int>& origins, const PointwiseLoop& loop, Dim first,
                             Dim count, SegmentGraph& part) {
  BodyGraph body(graph, origins, loop, first, part);
  PointwiseLoop mine = loop;
  for (auto* list : {&mine.states, &mine.next, &mine.changing, &mine.starts, &mine.kept, &mine.ends})
    for (ValueId& v : *list)
      if (v != no_value) v = body.mapped(v);
  if (mine.ends.empty()) mine.ends = mine.states;
  const std::vector<ValueId>&states = mine.states, &next = mine.next;
  Placement placement;
  placement.places.assign(part.graph.values.size(), Place::inlined);
  placement.row_levels.assign(part.graph.values.size(), 0);
  Program program;
  program.dims = part.graph.dims;
  std::vector<StoreTarget> targets;
  for (size_t k = 0; k < states.size(); ++k) {
    const Input& input = part.graph.inputs[static_cast<size_t>(part.graph.input_index(states[k]))];
    std::vector<Dim> strides =
        input.layout == Layout::strided ? input.strides : dense_strides(program.dims, part.graph.type(states[k]));
    // States are the first inputs, and inputs are the first buffers.
    targets.push_back({next[k], static_cast<BufferId>(k), program.dims.constant(0), std::move(strides), true});
  }
  std::vector<StoreTarget> all = targets;  // the targets and all other values that are computed at the same index
  for (const auto* list : {&mine.starts, &mine.kept, &mine.ends})
    for (ValueId v : *list)
      if (v != no_value) all.push_back({v, targets[0].buffer, targets[0].base, targets[0].strides, true});
  std::vector<NestLoop> loops = nest_loops(part.graph, placement, program.dims, all);
  const Graph& graph_of_body = part.graph;
  Nest nest =
      graph.target.has_tiles()
          ? TileWriter(graph_of_body, placement, program, body.iteration()).write(targets, mine, count, std::move(loops))
          : lower_iterations_of_elements(graph_of_body, placement, program, mine, targets, loops, body.iteration(), count);
  program.nests.push_back(std::move(nest));
  return program;
}

}  // namespace accel
