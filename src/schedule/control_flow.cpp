#include "schedule/control_flow.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/flow.h"
#include "ir/text/text.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/graph/loop_order.h"
#include "schedule/graph/scalar_promotion.h"
#include "schedule/graph/segments.h"
#include "schedule/graph/state_tiling.h"
#include "schedule/graph/tile_sinking.h"
#include "schedule/graph/uninitialised.h"
#include "schedule/loops/axis_tiling.h"
#include "schedule/loops/fission.h"
#include "schedule/loops/parallelise.h"
#include "schedule/lowering/linker.h"
#include "schedule/memory/buffer_assignment.h"
#include "schedule/memory/input_backup.h"
#include "schedule/memory/result_buffers.h"

namespace accel {

namespace {

class Flow {
 public:
  Flow(const Graph& graph, std::vector<std::string>* notes) : graph_(graph), notes_(notes) {}

  Result<Program> run() {
    order_loops(graph_, notes_);
    promote_scalars(graph_, notes_);
    ACCEL_TRY([[maybe_unused]] Unit owned, own_memory(graph_, notes_));
    fill_what_is_read(graph_);
    find_pointwise_loops();
    exits_ = exits_of(graph_);
    program_.symbol_count = static_cast<int>(graph_.symbols.size());
    program_.output_count = exits_.back().first_output + static_cast<int>(exits_.back().types.size());
    for (const auto& [symbol, binding] : bound_symbols(graph_)) program_.bound_symbols.push_back(symbol);
    program_.blocks.resize(graph_.blocks.size());
    Segments segments(graph_);
    bounds_.emplace(graph_);
    places_ = place_shared(graph_, segments, loops_, program_);
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      if (auto found = loops_.find(b); found != loops_.end()) {
        run_loop(found->second);
        continue;
      }
      if (asking_.contains(b)) continue;
      if (replaced_.contains(b)) {
        block(b).end = BlockEnd::jump;  // nothing leads here any more
        block(b).edges[0].target = b;
        continue;
      }
      for (const Segment& segment : segments.of(b)) {
        ACCEL_TRY([[maybe_unused]] Unit added, add_segment(segments, segment));
      }
      end_block(b);
    }
    program_.dims = graph_.dims;
    program_.early = early_temps(graph_, segments, places_, program_);
    if (!graph_.records_events) meet_events_first(program_, notes_);
    protect_inputs(program_, graph_);
    share_loops();
    return_temps(program_);
    return std::move(program_);
  }

 private:
  ProgramBlock& block(BlockId b) { return program_.blocks[static_cast<size_t>(b)]; }
  bool in_memory(ValueId v) const { return lives_in_memory(graph_, places_.origins, v); }
  BufferId buffer_of(ValueId v) const { return places_.buffer(v); }
  TempId temp_of(ValueId v) const { return places_.temp(v); }

  void share_loops() {
    if (graph_.records_events) return;
    program_.parallel_loops = parallel_loops(graph_, places_, program_);
    for (int header : run_planes_by_tiles(program_, program_.parallel_loops))
      if (notes_) notes_->push_back("the loop at block " + std::to_string(header) + " fills planes tile by tile");
    for (const ParallelLoop& loop : program_.parallel_loops)
      if (notes_) notes_->push_back("iterations of the loop at block " + std::to_string(loop.header) + " are independent");
  }

  // --- interchanged loops ---------------------------------------------------------------------------------------------

  void find_pointwise_loops() {
    Dominance dominance(graph_);
    const std::vector<int> origins = pinned_inputs(graph_);
    for (const NaturalLoop& loop : natural_loops(graph_, dominance)) {
      std::optional<PointwiseLoop> found = pointwise_loop(graph_, loop);
      if (!found) continue;
      if (notes_) notes_->push_back("the loop at block " + std::to_string(loop.header) + " runs tile by tile");
      // What Python sees is to be that of finished iterations wherever the run may leave.
      const bool is_seen = std::any_of(found->states.begin(), found->states.end(),
                                       [&](ValueId v) { return origins[static_cast<size_t>(v)] != not_pinned; });
      if (is_seen) found->poll = graph_.blocks[static_cast<size_t>(found->body)].terminator.poll;
      if (!found->is_sliced()) absorb_neighbours(graph_, *found);
      (found->leaves_to >= 0 ? asking_ : replaced_).insert(found->body);
      loops_.emplace(loop.header, std::move(*found));
    }
  }

  // A symbol of our own with the value of `temp` from here on.
  Dim bound(TempId temp, std::vector<BlockStep>& steps) {
    int symbol = graph_.add_symbol("", 1);
    program_.bound_symbols.push_back(symbol);
    Stmt bind;
    bind.kind = StmtKind::bind;
    bind.dim = graph_.dims.symbol(symbol);
    bind.args = {temp};
    Dim d = bind.dim;
    append_scalar(std::move(bind), steps);
    return d;
  }

  TempId scalar_or_leaf(ValueId v, std::vector<BlockStep>& steps) {
    bool leaf = !graph_.is_input(v) && temp_of(v) < 0;
    if (!leaf) return scalar(v, steps);
    Stmt stmt;
    const Node& node = graph_.producer(v);
    stmt.kind = node.op == Op::constant ? StmtKind::constant : StmtKind::index;
    stmt.dtype = graph_.type(v).dtype;
    stmt.dst = program_.add_temp(stmt.dtype);
    if (node.op == Op::constant)
      stmt.literal = node.attrs.literal;
    else
      stmt.dim = node.attrs.dims[0];
    TempId temp = stmt.dst;
    append_scalar(std::move(stmt), steps);
    return temp;
  }

  void run_loop(const PointwiseLoop& loop) {
    ProgramBlock& out = block(loop.header);
    TempId counter = temp_of(loop.counter);
    const TempId last_count = loop.is_sliced() ? program_.add_temp(DType::int64) : -1,
                 end_temp = scalar_or_leaf(loop.end, out.steps);
    Dim first = bound(counter, out.steps), end = bound(end_temp, out.steps);
    Dim count = graph_.dims.max(graph_.dims.sub(end, first), graph_.dims.constant(0));
    const TempId slice = loop.is_sliced() ? add_slice(loop, count, last_count, out.steps) : -1;
    if (slice >= 0) count = bound(slice, out.steps);
    SegmentGraph part;
    Program program = lower_pointwise_loop(graph_, places_.origins, loop, first, count, part);
    graph_.dims = program.dims;
    add_locations(part.graph, program);
    linker_.link(part, std::move(program), out.steps);
    Stmt last;
    last.kind = StmtKind::index;
    last.dtype = DType::int64;
    last.dst = program_.add_temp(DType::int64);
    last.dim = slice >= 0 ? graph_.dims.add(first, count) : graph_.dims.max(end, first);
    Stmt set;
    set.kind = StmtKind::assign;
    set.dtype = DType::int64;
    set.dst = counter;
    set.args = {last.dst};
    append_scalar(std::move(last), out.steps);
    append_scalar(std::move(set), out.steps);
    if (loop.bound) {
      Stmt bind;
      bind.kind = StmtKind::bind;
      bind.dim = graph_.dims.symbol(*loop.bound);
      bind.args = {counter};
      append_scalar(std::move(bind), out.steps);
    }
    const Terminator& t = graph_.blocks[static_cast<size_t>(loop.header)].terminator;
    if (slice >= 0) return end_slice(loop, {counter, end_temp}, {last_count, slice}, out);
    out.end = BlockEnd::jump;
    out.edges[0] = edge(t, loop.exit_edge, out.steps);
  }

  // How many iterations run before the run is asked.
  TempId add_slice(const PointwiseLoop& loop, Dim count, TempId last, std::vector<BlockStep>& steps) {
    Stmt stmt;
    stmt.kind = StmtKind::slice;
    stmt.dtype = DType::int64;
    stmt.dst = program_.add_temp(DType::int64);
    stmt.extent = count;
    stmt.dim = work_of(graph_, loop, graph_.dims);
    stmt.args = {last};
    const TempId temp = stmt.dst;
    append_scalar(std::move(stmt), steps);
    return temp;
  }

  // Back to the header while the counter is less than the end. `lengths`: of the slice before and of this one.
  void end_slice(const PointwiseLoop& loop, std::vector<TempId> compared, std::pair<TempId, TempId> lengths,
                 ProgramBlock& out) {
    Stmt zero, test;
    zero.kind = StmtKind::constant;
    zero.dtype = DType::int64;
    zero.literal = Literal::of_int(DType::int64, 0);
    zero.dst = program_.add_temp(DType::int64);
    test.kind = StmtKind::compute;
    test.op = Op::less;
    test.dtype = DType::bool_;
    test.args = std::move(compared);
    test.dst = out.condition = program_.add_temp(DType::bool_);
    out.edges[1] = edge(graph_.blocks[static_cast<size_t>(loop.header)].terminator, loop.exit_edge, out.steps);
    out.edges[1].scalars.emplace_back(lengths.first, zero.dst);
    out.edges[0].target = loop.leaves_to >= 0 ? loop.body : loop.header;
    if (loop.leaves_to < 0) out.edges[0].scalars.push_back(lengths);
    out.end = BlockEnd::branch;
    out.poll = loop.poll;
    append_scalar(std::move(zero), out.steps);
    append_scalar(std::move(test), out.steps);
    if (loop.leaves_to >= 0) ask_behind_slice(loop, lengths);
  }

  // At the exit the counter is that of the last iteration.
  void ask_behind_slice(const PointwiseLoop& loop, std::pair<TempId, TempId> lengths) {
    ProgramBlock& out = block(loop.body);
    const TempId counter = temp_of(loop.counter), known = temp_of(loop.next_counter);
    const TempId next = known >= 0 ? known : program_.add_temp(DType::int64);
    Stmt keep, last, ask;
    keep.kind = StmtKind::assign;
    keep.dtype = DType::int64;
    keep.dst = next;
    keep.args = {counter};
    append_scalar(std::move(keep), out.steps);
    last.kind = StmtKind::index;
    last.dtype = DType::int64;
    last.dst = program_.add_temp(DType::int64);
    last.dim = graph_.dims.sub(bound(counter, out.steps), graph_.dims.constant(1));
    const TempId last_counter = last.dst;
    append_scalar(std::move(last), out.steps);
    if (loop.bound) {
      Stmt bind;
      bind.kind = StmtKind::bind;
      bind.dim = graph_.dims.symbol(*loop.bound);
      bind.args = {last_counter};
      append_scalar(std::move(bind), out.steps);
    }
    ask.kind = StmtKind::interrupted;
    ask.numbers = {2};
    ask.dtype = DType::bool_;
    ask.dst = out.condition = program_.add_temp(DType::bool_);
    append_scalar(std::move(ask), out.steps);
    out.end = BlockEnd::branch;
    out.edges[0] = edge(graph_.blocks[static_cast<size_t>(loop.body)].terminator, 0, out.steps);
    out.edges[0].scalars.emplace_back(counter, last_counter);
    out.edges[1].target = loop.header;
    out.edges[1].scalars = {{counter, next}, lengths};
  }

  // --- segments -------------------------------------------------------------------------------------------------------

  Status add_segment(const Segments& segments, const Segment& segment) {
    std::vector<BlockStep>& steps = block(segment.block).steps;
    bool reloads = !segment.updates.empty() && graph_.nodes[static_cast<size_t>(segment.updates[0])].op == Op::reload;
    if (!reloads && (!segment.nodes.empty() || !segment.updates.empty())) {
      SegmentGraph part = extract(graph_, segments, segment, places_.origins, *bounds_);
      ACCEL_TRY(Program program, schedule_block(part.graph, notes_));
      graph_.dims = program.dims;
      for (NodeId n : segment.updates) add_grow(graph_.nodes[static_cast<size_t>(n)], steps);
      linker_.link(part, std::move(program), steps);
    }
    if (segment.boxed >= 0) add_boxed(graph_.nodes[static_cast<size_t>(segment.boxed)], steps);
    if (segment.bind >= 0) add_bind(graph_.nodes[static_cast<size_t>(segment.bind)], steps);
    return Unit{};
  }

  void add_grow(const Node& node, std::vector<BlockStep>& steps) {
    if (node.op == Op::add_row)
      steps.push_back(
          {StepKind::grow, {}, -1, buffer_of(node.results[0]), graph_.dims.product(graph_.type(node.results[0]).shape)});
  }

  void add_bind(const Node& node, std::vector<BlockStep>& steps) {
    Stmt bind;
    bind.kind = StmtKind::bind;
    bind.dim = node.attrs.dims[0];
    bind.args = {scalar(node.operands[0], steps)};
    places_.temps[static_cast<size_t>(node.results[0])] = bind.args[0];
    append_scalar(std::move(bind), steps);
  }

  void add_boxed(const Node& node, std::vector<BlockStep>& steps) {
    Stmt stmt;
    ValueId result = node.results[0];
    stmt.dtype = graph_.type(result).dtype;
    if (temp_of(result) >= 0) stmt.dst = temp_of(result);
    if (node.op == Op::draw) {
      stmt.kind = StmtKind::draw;
      stmt.numbers = {node.attrs.call};
      for (ValueId v : node.operands) stmt.args.push_back(scalar_or_leaf(v, steps));
    } else if (node.op == Op::interrupted) {
      stmt.kind = StmtKind::interrupted;
      stmt.numbers = {node.attrs.call == 1 ? 1 : 2};
    } else if (op_has_call(node.op)) {
      stmt.kind = node.op == Op::call ? StmtKind::boxed : StmtKind::python;
      stmt.numbers = {node.attrs.call};
      for (ValueId v : node.operands) add_operand(v, stmt, steps);
    } else {
      stmt.kind = node.op == Op::extent ? StmtKind::extent : stmt.dst >= 0 ? StmtKind::receive : StmtKind::receive_array;
      stmt.numbers = {graph_.producer(node.operands[0]).attrs.call};
      stmt.numbers.insert(stmt.numbers.end(), node.attrs.axes.begin(), node.attrs.axes.end());
    }
    if (stmt.kind == StmtKind::receive_array) {
      stmt.address = {buffer_of(result), graph_.dims.constant(0)};
      stmt.core_dims = graph_.type(result).shape;
      steps.push_back({StepKind::scalars, {}, -1, -1});  // memory is provided at its start, for extents bound before
    }
    append_scalar(std::move(stmt), steps);
  }

  void add_operand(ValueId v, Stmt& call, std::vector<BlockStep>& steps) {
    CallOperand operand{{-1, graph_.dims.constant(0)}, {}};
    if (in_memory(v)) {
      operand.address.buffer = buffer_of(v);
      const Type& type = graph_.type(v);
      const Buffer& buffer = program_.buffers[static_cast<size_t>(buffer_of(v))];
      std::vector<Dim> strides = buffer.kind == BufferKind::input ? buffer.strides : dense_strides(graph_.dims, type);
      call.core_dims.insert(call.core_dims.end(), type.shape.begin(), type.shape.end());
      call.core_strides.insert(call.core_strides.end(), strides.begin(), strides.end());
    } else {
      call.args.push_back(scalar_or_leaf(v, steps));
    }
    call.operands.push_back(operand);
  }

  // The temp of a scalar; an input is read here.
  TempId scalar(ValueId v, std::vector<BlockStep>& steps) {
    if (temp_of(v) >= 0) return temp_of(v);
    Stmt stmt;
    stmt.dtype = graph_.type(v).dtype;
    stmt.dst = program_.add_temp(stmt.dtype);
    if (buffer_of(v) >= 0) {
      stmt.kind = StmtKind::load;
      stmt.address = {buffer_of(v), graph_.dims.constant(0)};
    } else {
      stmt.kind = StmtKind::input;
      stmt.slot = graph_.inputs[static_cast<size_t>(graph_.input_index(v))].slot;
    }
    TempId temp = stmt.dst;
    append_scalar(std::move(stmt), steps);
    return temp;
  }

  // --- ends of blocks -------------------------------------------------------------------------------------------------

  void end_block(BlockId b) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(b)].terminator;
    ProgramBlock& out = block(b);
    for (int k = 0; k < target_count(t); ++k) out.edges[k] = edge(t, k, out.steps);
    out.poll = t.poll;
    switch (t.kind) {
      case TerminatorKind::jump:
        out.end = BlockEnd::jump;
        break;
      case TerminatorKind::branch:
        out.end = BlockEnd::branch;
        out.condition = scalar(t.operands[0], out.steps);
        out.is_guessed = t.is_guessed;
        break;
      default:
        end_with_exit(t, out);
    }
  }

  Edge edge(const Terminator& t, int k, std::vector<BlockStep>& steps) {
    Edge out;
    out.target = t.targets[k];
    const std::vector<ValueId>& params = graph_.blocks[static_cast<size_t>(t.targets[k])].params;
    std::map<BufferId, BufferId> now;  // where the memory of a buffer is after the swaps so far
    auto where = [&](BufferId id) { return now.contains(id) ? now[id] : id; };
    for (size_t i = 0; i < params.size(); ++i) {
      ValueId v = t.target_arguments[k][i];
      if (!in_memory(params[i])) {
        TempId from = scalar(v, steps);
        if (from != temp_of(params[i])) out.scalars.emplace_back(temp_of(params[i]), from);
        continue;
      }
      BufferId from = where(buffer_of(v)), to = buffer_of(params[i]);
      if (from == to) continue;
      out.swaps.emplace_back(to, from);
      for (const BufferId id : {buffer_of(v), to}) now.try_emplace(id, id);
      for (auto& [id, place] : now) place = place == to ? from : place == from ? to : place;
    }
    return out;
  }

  void end_with_exit(const Terminator& t, ProgramBlock& out) {
    out.end = BlockEnd::exit;
    out.exit = exit_number(t);
    int first = exits_[static_cast<size_t>(out.exit)].first_output;
    for (size_t k = 0; k < t.operands.size(); ++k) {
      ValueId v = t.operands[k];
      const Type& type = graph_.type(v);
      ExitOutput output{first + static_cast<int>(k), -1, -1, type.dtype, type.shape};
      if (in_memory(v))
        output.buffer = buffer_of(v);
      else
        output.scalar = scalar(v, out.steps);
      out.outputs.push_back(std::move(output));
    }
  }

  Graph graph_;
  std::vector<std::string>* notes_;
  Program program_;
  Places places_;
  Linker linker_{graph_, places_, program_};
  std::vector<ExitOutputs> exits_;
  std::optional<Bounds> bounds_;
  std::map<BlockId, PointwiseLoop> loops_;
  std::set<BlockId> replaced_;
  std::set<BlockId> asking_;  // bodies of loops that run tile by tile, which ask behind each slice
};

}  // namespace

Result<Program> schedule_flow(const Graph& graph, std::vector<std::string>* notes) { return Flow(graph, notes).run(); }

}  // namespace accel
