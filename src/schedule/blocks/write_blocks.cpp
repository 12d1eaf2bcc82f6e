#include "schedule/blocks/write_blocks.h"

#include <set>

#include "ir/analysis/flow.h"
#include "ir/text/text.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/blocks/block_code.h"
#include "schedule/blocks/linker.h"
#include "schedule/blocks/tiled_loops.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

namespace {

class BlockWriter {
 public:
  explicit BlockWriter(ProgramState& state)
      : state_(state),
        graph_(state.graph),
        places_(state.places),
        program_(state.program),
        code_(state),
        linker_(state.graph, state.places, state.program),
        exits_(exits_of(state.graph)) {
    for (const auto& [header, loop] : state.tiled_loops) (loop.leaves_to >= 0 ? polling_ : replaced_).insert(loop.body);
  }

  void run() {
    program_.blocks.resize(graph_.blocks.size());
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) {
      if (auto found = state_.tiled_loops.find(b); found != state_.tiled_loops.end()) {
        write_tiled_loop(state_, code_, linker_, found->second);
        continue;
      }
      if (polling_.contains(b)) continue;
      if (replaced_.contains(b)) {
        block(b).end = BlockEnd::jump;  // unreachable, as the header runs the whole loop
        block(b).edges[0].target = b;
        continue;
      }
      for (size_t k = 0; k < state_.segments->of(b).size(); ++k) add_segment(b, k);
      end_block(b);
    }
    program_.dims = graph_.dims;
  }

 private:
  ProgramBlock& block(BlockId b) { return program_.blocks[static_cast<size_t>(b)]; }
  bool in_memory(ValueId v) const { return lives_in_memory(graph_, places_.origins, v); }
  BufferId buffer_of(ValueId v) const { return places_.buffer(v); }
  TempId temp_of(ValueId v) const { return places_.temp(v); }

  void add_segment(BlockId b, size_t k) {
    const Segment& segment = state_.segments->of(b)[k];
    std::vector<BlockStep>& steps = block(b).steps;
    if (auto found = state_.lowered.find({b, k}); found != state_.lowered.end()) {
      for (NodeId n : segment.updates) add_grow(graph_.nodes[static_cast<size_t>(n)], steps);
      linker_.link(found->second.part, std::move(found->second.program), steps);
    }
    if (segment.boxed >= 0) add_boxed(graph_.nodes[static_cast<size_t>(segment.boxed)], steps);
    if (segment.bind >= 0) add_bind(graph_.nodes[static_cast<size_t>(segment.bind)], steps);
  }

  void add_grow(const Node& node, std::vector<BlockStep>& steps) {
    if (node.op == Op::add_row)
      steps.push_back(
          {StepKind::grow, {}, -1, buffer_of(node.results[0]), graph_.dims.product(graph_.type(node.results[0]).shape)});
  }

  void add_bind(const Node& node, std::vector<BlockStep>& steps) {
    const TempId temp = code_.scalar(node.operands[0], steps);
    state_.places.temps[static_cast<size_t>(node.results[0])] = temp;
    code_.bind(node.attrs.dims[0], temp, steps);
  }

  void add_boxed(const Node& node, std::vector<BlockStep>& steps) {
    Stmt stmt;
    ValueId result = node.results[0];
    stmt.dtype = graph_.type(result).dtype;
    if (temp_of(result) >= 0) stmt.dst = temp_of(result);
    if (node.op == Op::draw) {
      stmt.kind = StmtKind::draw;
      stmt.numbers = {node.attrs.call};
      for (ValueId v : node.operands) stmt.args.push_back(code_.scalar_or_leaf(v, steps));
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
      steps.push_back(
          {StepKind::scalars, {}, -1, -1});  // its memory is allocated at the start of a step, after extents are bound
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
      call.args.push_back(code_.scalar_or_leaf(v, steps));
    }
    call.operands.push_back(operand);
  }

  void end_block(BlockId b) {
    const Terminator& t = graph_.blocks[static_cast<size_t>(b)].terminator;
    ProgramBlock& out = block(b);
    for (int k = 0; k < target_count(t); ++k) out.edges[k] = code_.edge(t, k, out.steps);
    out.poll = t.poll;
    switch (t.kind) {
      case TerminatorKind::jump:
        out.end = BlockEnd::jump;
        break;
      case TerminatorKind::branch:
        out.end = BlockEnd::branch;
        out.condition = code_.scalar(t.operands[0], out.steps);
        out.is_guessed = t.is_guessed;
        out.is_deferrable = t.is_deferrable;
        break;
      default:
        end_with_exit(t, out);
    }
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
        output.scalar = code_.scalar(v, out.steps);
      out.outputs.push_back(std::move(output));
    }
  }

  ProgramState& state_;
  Graph& graph_;
  const Places& places_;
  Program& program_;
  BlockCode code_;
  Linker linker_;
  std::vector<ExitOutputs> exits_;
  std::set<BlockId> replaced_;
  std::set<BlockId> polling_;  // bodies of tiled loops, written by write_tiled_loop, that poll after each slice
};

}  // namespace

Result<bool> write_blocks(ProgramState& state) {
  BlockWriter(state).run();
  return true;
}

}  // namespace accel
