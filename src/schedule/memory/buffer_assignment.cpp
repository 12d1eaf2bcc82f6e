#include "schedule/memory/buffer_assignment.h"

#include <algorithm>
#include <set>

#include "ir/analysis/flow.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/memory/live_ranges.h"
#include "schedule/memory/program_state.h"

namespace accel {

namespace {

constexpr BufferId same_as_base = -2;

class Placing {
 public:
  Placing(Graph& graph, const Segments& segments, const std::map<BlockId, PointwiseLoop>& loops, Program& program)
      : graph_(graph), segments_(segments), loops_(loops), program_(program) {
    places_.origins = pinned_inputs(graph);
    places_.buffers.assign(graph.values.size(), -1);
    places_.temps.assign(graph.values.size(), -1);
  }

  Places run() {
    add_inputs();
    find_direct_outputs();
    find_webs();
    for (BlockId b = 0; b < static_cast<BlockId>(graph_.blocks.size()); ++b) place_block(b);
    for (size_t v = 0; v < graph_.values.size(); ++v)
      if (places_.buffers[v] == same_as_base) places_.buffers[v] = base_buffer(static_cast<ValueId>(v));
    return std::move(places_);
  }

 private:
  BufferId& buffer_of(ValueId v) { return places_.buffers[static_cast<size_t>(v)]; }
  Dim elements(ValueId v) { return graph_.dims.product(graph_.type(v).shape); }
  bool in_memory(ValueId v) const { return lives_in_memory(graph_, places_.origins, v); }

  void add_inputs() {
    for (size_t k = 0; k < graph_.inputs.size(); ++k) {
      ValueId v = graph_.entry().params[k];
      if (graph_.inputs[k].slot >= 0) continue;
      const Type& type = graph_.type(v);
      const Input& input = graph_.inputs[k];
      Buffer buffer{BufferKind::input, type.dtype, elements(v), program_.input_count++, input.name, type.shape, {}};
      buffer.strides = input.layout == Layout::strided ? input.strides : dense_strides(graph_.dims, type);
      input_buffers_[static_cast<int>(k)] = buffer_of(v) = program_.add_buffer(std::move(buffer));
    }
  }

  // Arrays that an exit's own block computes are computed in the result's memory.
  void find_direct_outputs() {
    std::vector<ExitOutputs> exits = exits_of(graph_);
    std::vector<int> uses(graph_.values.size(), 0);
    for (const Block& b : graph_.blocks)
      for (const auto* list : {&b.terminator.operands, &b.terminator.target_arguments[0], &b.terminator.target_arguments[1]})
        for (ValueId v : *list) ++uses[static_cast<size_t>(v)];
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Terminator& t = graph_.blocks[b].terminator;
      if (!is_exit(t)) continue;
      std::set<ValueId> own;
      for (const Segment& segment : segments_.of(static_cast<BlockId>(b)))
        for (ValueId v : placed_values(graph_, segment)) own.insert(v);
      for (ValueId v : states_made_before(static_cast<BlockId>(b))) own.insert(v);
      int first = exits[static_cast<size_t>(exit_number(t))].first_output;
      for (size_t k = 0; k < t.operands.size(); ++k) {
        ValueId v = t.operands[k];
        if (in_memory(v) && own.contains(v) && uses[static_cast<size_t>(v)] == 1) direct_[v] = first + static_cast<int>(k);
      }
    }
  }

  // States of a tiled loop that start as computed arrays, when the loop is the only predecessor of block b.
  std::vector<ValueId> states_made_before(BlockId b) const {
    std::vector<BlockId> before = predecessors(graph_)[static_cast<size_t>(b)];
    return before.size() == 1 ? states_made_by(before[0]) : std::vector<ValueId>();
  }

  // States that start as computed arrays, of the tiled loop with header b; empty when b is not one.
  std::vector<ValueId> states_made_by(BlockId b) const {
    std::vector<ValueId> out;
    auto found = loops_.find(b);
    if (found == loops_.end()) return out;
    const PointwiseLoop& loop = found->second;
    for (size_t k = 0; k < loop.starts.size(); ++k)
      if (loop.starts[k] != no_value) out.push_back(loop.states[k]);
    return out;
  }

  void find_webs() {
    std::vector<bool> apart(graph_.values.size(), false);
    for (const auto& [v, output] : direct_) apart[static_cast<size_t>(v)] = true;
    // A dynamic list's buffer changes its size, so it is not shared with other values.
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      ValueId value = static_cast<ValueId>(v);
      if (!graph_.is_input(value) && graph_.producer(value).op == Op::add_row) apart[v] = true;
    }
    webs_ = memory_webs(graph_, segments_, places_.origins, apart);
  }

  void place_block(BlockId b) {
    if (b > 0)
      for (ValueId v : graph_.blocks[static_cast<size_t>(b)].params) place(v);
    for (ValueId v : states_made_by(b)) place(v);
    for (const Segment& segment : segments_.of(b)) {
      for (ValueId v : placed_values(graph_, segment)) place(v);
      for (NodeId n : segment.updates)
        buffer_of(graph_.nodes[static_cast<size_t>(n)].results[0]) = same_as_base;  // resolved when all values are placed
    }
  }

  void place(ValueId v) {
    const Type& type = graph_.type(v);
    int origin = places_.origins[static_cast<size_t>(v)];
    if (!in_memory(v)) {
      places_.temps[static_cast<size_t>(v)] = program_.add_temp(type.dtype);
    } else if (origin >= 0) {
      buffer_of(v) = input_buffers_[origin];
    } else if (auto direct = direct_.find(v); direct != direct_.end()) {
      buffer_of(v) = program_.add_buffer(
          {BufferKind::output, type.dtype, elements(v), direct->second, "v" + std::to_string(v), type.shape, {}});
    } else if (auto shared = web_buffers_.find(webs_[static_cast<size_t>(v)]); shared != web_buffers_.end()) {
      buffer_of(v) = shared->second;
    } else {
      buffer_of(v) = program_.add_buffer({BufferKind::temp, type.dtype, elements(v), -1, "v" + std::to_string(v), {}, {}});
      web_buffers_[webs_[static_cast<size_t>(v)]] = buffer_of(v);
    }
  }

  BufferId base_buffer(ValueId v) {
    while (buffer_of(v) == same_as_base) v = graph_.producer(v).operands[0];
    return buffer_of(v);
  }

  Graph& graph_;
  const Segments& segments_;
  const std::map<BlockId, PointwiseLoop>& loops_;
  Program& program_;
  Places places_;
  std::map<int, BufferId> input_buffers_;
  std::map<ValueId, int> direct_;  // by value: the output it is computed in
  std::vector<ValueId> webs_;
  std::map<ValueId, BufferId> web_buffers_;
};

// Buffers that scalar steps access and that are never swapped or grown.
std::set<BufferId> buffers_of_scalar_steps(const Program& program) {
  std::set<BufferId> out;
  for (const ProgramBlock& b : program.blocks)
    for (const BlockStep& step : b.steps)
      for (const Stmt& stmt : step.body)
        if (stmt.address.buffer >= 0) out.insert(stmt.address.buffer);
  for (const ProgramBlock& b : program.blocks) {
    for (const Edge& e : b.edges)
      for (const auto& [to, from] : e.swaps) out.erase(to), out.erase(from);
    for (const BlockStep& step : b.steps)
      if (step.kind == StepKind::grow) out.erase(step.buffer);
  }
  return out;
}

// Buffers of values that are computed on every path to some return.
std::set<BufferId> buffers_before_returns(const Graph& graph, const Segments& segments, const Places& places) {
  Dominance dominance(graph);
  std::set<BufferId> out;
  for (BlockId b = 0; b < static_cast<BlockId>(graph.blocks.size()); ++b) {
    bool ends = std::any_of(graph.blocks.begin(), graph.blocks.end(), [&](const Block& other) {
      return other.terminator.kind == TerminatorKind::ret &&
             dominance.dominates(b, static_cast<BlockId>(&other - graph.blocks.data()));
    });
    if (!ends) continue;
    for (const Segment& segment : segments.of(b))
      for (ValueId v : placed_values(graph, segment))
        if (places.buffer(v) >= 0) out.insert(places.buffer(v));
  }
  return out;
}

}  // namespace

Result<bool> assign_buffers(ProgramState& state) {
  Program& program = state.program;
  const std::vector<ExitOutputs> exits = exits_of(state.graph);
  program.symbol_count = static_cast<int>(state.graph.symbols.size());
  program.output_count = exits.back().first_output + static_cast<int>(exits.back().types.size());
  program.target = state.graph.target;
  program.records_events = state.graph.records_events;
  for (const auto& [symbol, binding] : bound_symbols(state.graph)) program.bound_symbols.push_back(symbol);
  state.segments.emplace(state.graph);
  state.places = Placing(state.graph, *state.segments, state.tiled_loops, program).run();
  program.dims = state.graph.dims;
  return true;
}

Result<bool> provide_early(ProgramState& state) {
  Program& program = state.program;
  std::set<BufferId> certain = buffers_before_returns(state.graph, *state.segments, state.places);
  for (BufferId id : buffers_of_scalar_steps(program)) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
    if (buffer.kind == BufferKind::temp && certain.contains(id) && program.is_known_at_start(buffer.elements))
      program.early.push_back(id);
  }
  return !program.early.empty();
}

}  // namespace accel
