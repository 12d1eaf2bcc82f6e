#include "schedule/blocks/tiled_loops.h"

#include <utility>

#include "schedule/lowering/lower_nests.h"
#include "schedule/lowering/state_tiles.h"

namespace accel {

namespace {

class TiledLoopWriter {
 public:
  TiledLoopWriter(ProgramState& state, BlockCode& code, Linker& linker)
      : graph_(state.graph), places_(state.places), program_(state.program), code_(code), linker_(linker) {}

  void write(const PointwiseLoop& loop) {
    ProgramBlock& out = block(loop.header);
    TempId counter = temp_of(loop.counter);
    const TempId last_count = loop.is_sliced() ? program_.add_temp(DType::int64) : -1,
                 end_temp = loop.end_dim ? code_.number(*loop.end_dim, out.steps) : code_.scalar_or_leaf(loop.end, out.steps);
    Dim first = code_.bound(counter, out.steps), end = code_.bound(end_temp, out.steps);
    Dim count = graph_.dims.max(graph_.dims.sub(end, first), graph_.dims.constant(0));
    const TempId slice = loop.is_sliced() ? add_slice(loop, count, last_count, out.steps) : -1;
    if (slice >= 0) count = code_.bound(slice, out.steps);
    SegmentGraph part;
    Program program = lower_pointwise_loop(graph_, places_.origins, loop, first, count, part);
    graph_.dims = program.dims;
    add_locations(part.graph, program);
    linker_.link(part, std::move(program), out.steps);
    const Dim last = slice >= 0 ? graph_.dims.add(first, count) : graph_.dims.max(end, first);
    code_.assign(counter, code_.number(last, out.steps), out.steps);
    if (loop.bound) code_.bind(graph_.dims.symbol(*loop.bound), counter, out.steps);
    const Terminator& t = graph_.blocks[static_cast<size_t>(loop.header)].terminator;
    if (slice >= 0) return end_slice(loop, {counter, end_temp}, {last_count, slice}, out);
    out.end = BlockEnd::jump;
    out.edges[0] = code_.edge(t, loop.exit_edge, out.steps);
  }

 private:
  // The number of iterations to run before the next poll.
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

  // Ends the header's block: another slice while the counter is less than the end. `lengths`: of the previous and of this
  // slice.
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
    out.edges[1] = code_.edge(graph_.blocks[static_cast<size_t>(loop.header)].terminator, loop.exit_edge, out.steps);
    out.edges[1].scalars.emplace_back(lengths.first, zero.dst);
    out.edges[0].target = loop.leaves_to >= 0 ? loop.body : loop.header;
    if (loop.leaves_to < 0) out.edges[0].scalars.push_back(lengths);
    out.end = BlockEnd::branch;
    out.poll = loop.poll;
    append_scalar(std::move(zero), out.steps);
    append_scalar(std::move(test), out.steps);
    if (loop.leaves_to >= 0) poll_after_slice(loop, lengths);
  }

  // Polls after a slice. At the exit the counter has its value of the last iteration.
  void poll_after_slice(const PointwiseLoop& loop, std::pair<TempId, TempId> lengths) {
    ProgramBlock& out = block(loop.body);
    const TempId counter = temp_of(loop.counter), known = temp_of(loop.next_counter);
    const TempId next = known >= 0 ? known : program_.add_temp(DType::int64);
    code_.assign(next, counter, out.steps);
    const Dim before = graph_.dims.sub(code_.bound(counter, out.steps), graph_.dims.constant(1));
    const TempId last_counter = code_.number(before, out.steps);
    if (loop.bound) code_.bind(graph_.dims.symbol(*loop.bound), last_counter, out.steps);
    Stmt poll;
    poll.kind = StmtKind::interrupted;
    poll.numbers = {2};
    poll.dtype = DType::bool_;
    poll.dst = out.condition = program_.add_temp(DType::bool_);
    append_scalar(std::move(poll), out.steps);
    out.end = BlockEnd::branch;
    out.edges[0] = code_.edge(graph_.blocks[static_cast<size_t>(loop.body)].terminator, 0, out.steps);
    out.edges[0].scalars.emplace_back(counter, last_counter);
    out.edges[1].target = loop.header;
    out.edges[1].scalars = {{counter, next}, lengths};
  }

  ProgramBlock& block(BlockId b) { return program_.blocks[static_cast<size_t>(b)]; }
  TempId temp_of(ValueId v) const { return places_.temp(v); }

  Graph& graph_;
  const Places& places_;
  Program& program_;
  BlockCode& code_;
  Linker& linker_;
};

}  // namespace

void write_tiled_loop(ProgramState& state, BlockCode& code, Linker& linker, const PointwiseLoop& loop) {
  TiledLoopWriter(state, code, linker).write(loop);
}

}  // namespace accel
