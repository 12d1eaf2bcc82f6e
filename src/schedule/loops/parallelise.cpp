#include "schedule/loops/parallelise.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/analysis/loops.h"
#include "schedule/analysis/counted_loops.h"
#include "schedule/analysis/index_maps.h"
#include "schedule/graph/copy_insertion.h"

namespace accel {

namespace {

constexpr int64_t unknown_trips = 8;
constexpr int64_t unknown_work = 64;
constexpr int64_t least_iterations = 3;     // the calling thread runs the last one
constexpr int64_t least_before_nests = 32;  // enough to occupy all threads better than the parallel nests inside do

// Decides whether the iterations of one loop are independent.
class Examined {
 public:
  Examined(Graph& graph, const Places& places, const Program& program, const NaturalLoop& loop, const CountedLoop& counted)
      : graph_(graph), places_(places), program_(program), loop_(loop), counted_(counted) {
    find_shared();
    for (BlockId b : loop_.blocks)
      for (const BlockStep& step : program_.blocks[static_cast<size_t>(b)].steps)
        for (const Stmt& stmt : step.body)
          if (stmt.kind == StmtKind::bind) bound_.insert(*graph_.dims.as_symbol(stmt.dim));
  }

  bool is_independent() {
    return is_fixed(counted_.end) && leaves_for_interpreter() && runs_on_any_thread() && carries_nothing() &&
           shares_by_counter();
  }

  ParallelLoop product(const std::vector<NaturalLoop>& loops, const std::map<BlockId, CountedLoop>& counted) {
    ParallelLoop out;
    out.header = loop_.header;
    out.blocks.assign(loop_.blocks.begin(), loop_.blocks.end());
    out.counter = places_.temp(counted_.counter);
    out.step = counted_.step;
    out.end = counted_.end;
    out.least = has_parallel_nest_ ? least_before_nests : least_iterations;
    out.work = work(loops, counted);
    out.own.assign(own_.begin(), own_.end());
    for (const auto& [id, rows] : rows_) out.written.push_back(id);
    out.leaves = leaves_;
    return out;
  }

 private:
  const Block& block(BlockId b) const { return graph_.blocks[static_cast<size_t>(b)]; }
  BufferId buffer(ValueId v) const { return places_.buffer(v); }

  // Whether an expression is the same in all iterations.
  bool is_fixed(Dim d) const {
    std::vector<int> symbols = graph_.dims.symbols(d);
    return std::none_of(symbols.begin(), symbols.end(), [&](int s) { return bound_.contains(s); });
  }

  bool is_made_inside(ValueId v) const {
    BlockId home = graph_.values[static_cast<size_t>(v)].block;
    const auto& params = block(loop_.header).params;
    return loop_.blocks.contains(home) && std::find(params.begin(), params.end(), v) == params.end();
  }

  // Memory is private to an iteration when only values computed inside the loop live in it.
  void find_shared() {
    for (size_t k = 0; k < graph_.values.size(); ++k) {
      ValueId v = static_cast<ValueId>(k);
      if (buffer(v) >= 0) (is_made_inside(v) ? own_ : shared_).insert(buffer(v));
    }
    for (BufferId id : shared_) own_.erase(id);
  }

  // The block that a chain of jumps from `b` leads to; any block of the chain if it never ends.
  BlockId after_jumps(BlockId b) const {
    std::set<BlockId> seen;
    while (block(b).terminator.kind == TerminatorKind::jump && seen.insert(b).second) b = block(b).terminator.targets[0];
    return b;
  }

  // Whether the block polls for an interrupt before the next iteration of this loop.
  bool is_poll(BlockId b) const {
    const Terminator& t = block(b).terminator;
    if (t.kind != TerminatorKind::branch || graph_.is_input(t.operands[0])) return false;
    return graph_.producer(t.operands[0]).op == Op::interrupted && t.targets[1] == loop_.header;
  }

  // Whether all exits from within an iteration are side exits.
  bool leaves_for_interpreter() {
    for (BlockId b : loop_.blocks) {
      const Terminator& t = block(b).terminator;
      for (int k = 0; k < target_count(t); ++k) {
        BlockId target = t.targets[k];
        if (loop_.blocks.contains(target) || (b == loop_.header && k == 1)) continue;
        if (is_poll(b) && k == 0) continue;  // the calling thread polls, and leaves at the end of an iteration
        if (block(after_jumps(target)).terminator.kind != TerminatorKind::leave) return false;
        leaves_ = true;
      }
    }
    return true;
  }

  static bool has_parallel(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Stmt& stmt) {
      return stmt.loop_kind == LoopKind::parallel || stmt.divide_work || has_parallel(stmt.body);
    });
  }

  bool runs_on_any_thread() {
    for (BlockId b : loop_.blocks) {
      const ProgramBlock& each = program_.blocks[static_cast<size_t>(b)];
      for (const BlockStep& step : each.steps) {
        if (step.kind == StepKind::grow || step.kind == StepKind::protect) return false;
        for (const Stmt& stmt : step.body)
          if (is_for_caller(stmt.kind) && !(is_poll(b) && stmt.kind == StmtKind::interrupted)) return false;
        if (step.kind != StepKind::nest) continue;
        const Nest& nest = program_.nests[static_cast<size_t>(step.nest)];
        if (nest.on_calling_thread) return false;
        has_parallel_nest_ = has_parallel_nest_ || has_parallel(nest.body);
      }
      for (const Edge& edge : each.edges)
        for (const auto& [to, from] : edge.swaps)
          if (loop_.blocks.contains(edge.target) && (!own_.contains(to) || !own_.contains(from))) return false;
    }
    return true;
  }

  // Whether no iteration needs a scalar parameter of the header other than the counter, be it for its own work or for values
  // that are used after the loop. Values for side exits do not count, as the calling thread computes them again; values for the
  // exit of an interrupt poll do, as the calling thread runs only the last iteration before it.
  bool carries_nothing() {
    std::set<ValueId> needed;
    std::vector<ValueId> open;
    auto need = [&](ValueId v) {
      if (needed.insert(v).second) open.push_back(v);
    };
    for (BlockId b : loop_.blocks) {
      for (NodeId n : block(b).nodes)
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].operands) need(v);
      if (block(b).terminator.kind == TerminatorKind::branch) need(block(b).terminator.operands[0]);
    }
    for (ValueId v : live_out_arguments()) need(v);
    for (BlockId b : loop_.blocks)
      if (is_poll(b)) need_all(block(b).terminator.targets[0], need);
    while (!open.empty()) {
      ValueId v = open.back();
      open.pop_back();
      BlockId home = graph_.values[static_cast<size_t>(v)].block;
      const auto& params = block(home).params;
      auto found = std::find(params.begin(), params.end(), v);
      if (!loop_.blocks.contains(home) || found == params.end()) continue;
      size_t place = static_cast<size_t>(found - params.begin());
      if (home == loop_.header) {
        if (place != counted_.place && !lives_in_memory(graph_, places_.origins, v)) return false;
        continue;
      }
      for (BlockId b : loop_.blocks)
        for (int k = 0; k < target_count(block(b).terminator); ++k)
          if (block(b).terminator.targets[k] == home) need(block(b).terminator.target_arguments[k][place]);
    }
    return true;
  }

  // Reports all values that the code from `b` on uses; it never returns to the loop.
  template <typename Need>
  void need_all(BlockId b, const Need& need) const {
    std::vector<BlockId> open = {b};
    while (!open.empty()) {
      const Block& each = block(open.back());
      open.pop_back();
      for (NodeId n : each.nodes)
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].operands) need(v);
      const Terminator& t = each.terminator;
      for (const auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        for (ValueId v : *list) need(v);
      for (int k = 0; k < target_count(t); ++k) open.push_back(t.targets[k]);
    }
  }

  // Arguments for the header's scalars that are used after the loop: the last iteration has to compute them without the earlier
  // ones.
  std::vector<ValueId> live_out_arguments() {
    std::set<BlockId> after;
    std::vector<BlockId> open = {block(loop_.header).terminator.targets[1]};
    std::set<ValueId> used(block(loop_.header).terminator.target_arguments[1].begin(),
                           block(loop_.header).terminator.target_arguments[1].end());
    while (!open.empty()) {
      BlockId b = open.back();
      open.pop_back();
      if (loop_.blocks.contains(b) || !after.insert(b).second) continue;
      for (NodeId n : block(b).nodes)
        for (ValueId v : graph_.nodes[static_cast<size_t>(n)].operands) used.insert(v);
      const Terminator& t = block(b).terminator;
      for (const auto* list : {&t.operands, &t.target_arguments[0], &t.target_arguments[1]})
        used.insert(list->begin(), list->end());
      for (int k = 0; k < target_count(t); ++k) open.push_back(t.targets[k]);
    }
    std::vector<ValueId> out;
    const auto& params = block(loop_.header).params;
    for (size_t place = 0; place < params.size(); ++place) {
      if (place == counted_.place || !used.contains(params[place]) || lives_in_memory(graph_, places_.origins, params[place]))
        continue;
      for (BlockId latch : loop_.latches) {
        const Terminator& t = block(latch).terminator;
        for (int k = 0; k < target_count(t); ++k)
          if (t.targets[k] == loop_.header) out.push_back(t.target_arguments[k][place]);
      }
    }
    return out;
  }

  // Whether each iteration accesses a separate part of all shared memory that the loop writes.
  bool shares_by_counter() {
    for (BlockId b : loop_.blocks)
      for (NodeId n : block(b).nodes)
        if (!note_writing(graph_.nodes[static_cast<size_t>(n)])) return false;
    for (BlockId b : loop_.blocks) {
      for (NodeId n : block(b).nodes) note_reading(graph_.nodes[static_cast<size_t>(n)]);
      const Terminator& t = block(b).terminator;
      for (int k = 0; k < target_count(t); ++k)
        for (ValueId v : t.target_arguments[k])
          if (is_array_view(graph_, v)) note_access(v);
    }
    return std::none_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.second.empty(); });
  }

  bool note_writing(const Node& node) {
    for (ValueId v : node.results) {
      if (buffer(v) < 0 || own_.contains(buffer(v))) continue;
      BufferKind kind = program_.buffers[static_cast<size_t>(buffer(v))].kind;
      if (node.op != Op::store || (kind != BufferKind::input && kind != BufferKind::temp)) return false;
      rows_.try_emplace(buffer(v));
    }
    return true;
  }

  void note_reading(const Node& node) {
    if (is_view(node.op)) return;  // a view reads nothing; the uses of its result do
    for (size_t k = is_update(node.op) ? 1 : 0; k < node.operands.size(); ++k) note_access(node.operands[k]);
  }

  // The variable that stands for any index along axis k.
  Dim axis(size_t k) {
    while (axes_.size() <= k) axes_.push_back(graph_.dims.new_variable());
    return axes_[k];
  }

  using Rows = std::map<size_t, Dim>;  // axis to the index along it

  // Narrows the axes that separate the iterations for the memory of v: those where all accesses so far have the same index.
  void note_access(ValueId v) {
    const Type& type = graph_.type(v);
    Index index;
    for (size_t k = 0; k < type.shape.size(); ++k)
      index.push_back(graph_.dims.is_constant(type.shape[k], 1) ? graph_.dims.constant(0) : axis(k));
    Element element = element_behind_views(graph_.dims, graph_, v, std::move(index));
    BufferId memory = buffer(element.array);
    auto found = memory >= 0 ? rows_.find(memory) : rows_.end();
    if (found == rows_.end()) return;
    Rows rows = rows_of(element.index);
    if (accessed_.insert(found->first).second)
      found->second = rows;
    else
      std::erase_if(found->second,
                    [&](const auto& row) { return !rows.contains(row.first) || rows.at(row.first) != row.second; });
  }

  // Axes whose index depends on the counter alone, with a constant factor other than 0.
  Rows rows_of(const Index& index) {
    Rows out;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      std::optional<Dim> by = graph_.dims.slope(index[axis], counted_.symbol);
      std::optional<int64_t> constant = by ? graph_.dims.as_constant(*by) : std::nullopt;
      if (!constant || *constant == 0) continue;
      std::vector<int> symbols = graph_.dims.symbols(index[axis]);
      bool known = std::all_of(symbols.begin(), symbols.end(), [&](int s) {
        return s == counted_.symbol || (!DimTable::is_variable(s) && !bound_.contains(s));
      });
      if (known) out.emplace(axis, index[axis]);
    }
    return out;
  }

  // --- work estimate ------------------------------------------------------------------------------------------------------

  // An estimate with inner counters replaced by half their bounds; nullopt when other values of an iteration remain.
  std::optional<Dim> estimate(Dim d, const std::map<BlockId, CountedLoop>& counted) {
    for (int pass = 0; pass < 4 && !is_fixed(d); ++pass) {
      d = graph_.dims.substitute(d, [&](int symbol) -> std::optional<Dim> {
        for (const auto& [header, loop] : counted)
          if (loop.symbol == symbol) return graph_.dims.floordiv(loop.end, graph_.dims.constant(2));
        return std::nullopt;
      });
    }
    return is_fixed(d) ? std::optional<Dim>(d) : std::nullopt;
  }

  Dim work(const std::vector<NaturalLoop>& loops, const std::map<BlockId, CountedLoop>& counted) {
    DimTable& dims = graph_.dims;
    Dim total = dims.constant(0);
    for (BlockId b : loop_.blocks) {
      Dim trips = dims.constant(1), once = dims.constant(0);
      for (const NaturalLoop& inner : loops) {
        if (inner.header == loop_.header || !inner.blocks.contains(b) || !loop_.blocks.contains(inner.header)) continue;
        auto known = counted.find(inner.header);
        std::optional<Dim> count = known == counted.end() ? std::nullopt : estimate(known->second.end, counted);
        trips = dims.mul(trips, count.value_or(dims.constant(unknown_trips)));
      }
      for (const BlockStep& step : program_.blocks[static_cast<size_t>(b)].steps) {
        std::optional<Dim> some = dims.constant(static_cast<int64_t>(step.body.size()));
        if (step.kind == StepKind::nest) some = estimate(program_.nests[static_cast<size_t>(step.nest)].work, counted);
        once = dims.add(once, some.value_or(dims.constant(unknown_work)));
      }
      total = dims.add(total, dims.mul(trips, once));
    }
    return total;
  }

  Graph& graph_;
  const Places& places_;
  const Program& program_;
  const NaturalLoop& loop_;
  const CountedLoop& counted_;
  std::set<int> bound_;  // symbols bound inside the loop
  std::set<BufferId> own_, shared_;
  std::map<BufferId, Rows> rows_;  // by written shared memory: the axes that separate the iterations
  std::set<BufferId> accessed_;
  std::vector<Dim> axes_;
  bool leaves_ = false, has_parallel_nest_ = false;
};

bool overlaps(const std::set<BlockId>& a, const std::vector<int>& b) {
  return std::any_of(b.begin(), b.end(), [&](int block) { return a.contains(block); });
}

}  // namespace

Result<bool> share_loops(ProgramState& state) {
  Graph& graph = state.graph;
  Program& program = state.program;
  if (program.records_events) return false;
  graph.dims = program.dims;
  std::vector<NaturalLoop> loops = natural_loops(graph, Dominance(graph));
  std::map<BlockId, CountedLoop> counted;
  for (const NaturalLoop& loop : loops)
    if (auto found = counted_loop(graph, loop)) counted.emplace(loop.header, *found);
  std::vector<ParallelLoop>& out = program.parallel_loops;
  for (const NaturalLoop& loop : loops) {
    auto found = counted.find(loop.header);
    bool inside =
        std::any_of(out.begin(), out.end(), [&](const ParallelLoop& outer) { return overlaps(loop.blocks, outer.blocks); });
    if (found == counted.end() || inside || program.blocks[static_cast<size_t>(loop.header)].end != BlockEnd::branch) continue;
    Examined examined(graph, state.places, program, loop, found->second);
    if (examined.is_independent()) out.push_back(examined.product(loops, counted));
  }
  program.dims = graph.dims;
  return !out.empty();
}

}  // namespace accel
