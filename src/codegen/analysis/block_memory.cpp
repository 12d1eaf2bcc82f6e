#include "codegen/analysis/block_memory.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/analysis/polls.h"

namespace accel {

namespace {

void collect_buffers_written(const Body& body, std::set<BufferId>& out) {
  for (const Stmt& stmt : body) {
    bool stores = is_store(stmt.kind) || stmt.kind == StmtKind::receive_array;
    if (stores) out.insert(stmt.address.buffer);
    if (stmt.kind == StmtKind::boxed || stmt.kind == StmtKind::python) continue;
    for (const CallOperand& operand : stmt.operands) out.insert(operand.address.buffer);
    collect_buffers_written(stmt.body, out);
  }
}

// Data-flow analysis forward over the blocks: what has memory on all paths to a block.
class AllocatedBuffers {
 public:
  explicit AllocatedBuffers(const Program& program) : program_(program), at_start_(program.blocks.size()) {}

  std::vector<std::set<BufferId>> run() {
    at_start_[0].emplace();
    open_ = {0};
    while (!open_.empty()) {
      size_t from = open_.back();
      open_.pop_back();
      for (const Edge& edge : edges_of(program_.blocks[from])) pass_edge(from, edge);
    }
    std::vector<std::set<BufferId>> out;
    for (auto& allocated : at_start_) out.push_back(allocated ? std::move(*allocated) : std::set<BufferId>());
    return out;
  }

 private:
  // What certainly has memory after an edge.
  void pass_edge(size_t from, const Edge& edge) {
    std::set<BufferId> allocated = *at_start_[from];
    for (const BlockStep& step : program_.blocks[from].steps) allocated.merge(buffers_written(program_, step));
    for (const auto& [to, other] : edge.swaps) {
      bool had = allocated.contains(to);
      allocated.contains(other) ? void(allocated.insert(to)) : void(allocated.erase(to));
      had ? void(allocated.insert(other)) : void(allocated.erase(other));
    }
    auto& at_target = at_start_[static_cast<size_t>(edge.target)];
    if (at_target) std::erase_if(allocated, [&](BufferId id) { return !at_target->contains(id); });
    if (at_target == allocated) return;
    at_target = std::move(allocated);
    open_.push_back(static_cast<size_t>(edge.target));
  }

  const Program& program_;
  std::vector<std::optional<std::set<BufferId>>> at_start_;
  std::vector<size_t> open_;  // blocks whose edges are to be looked at
};

class SharedTemps {
 public:
  SharedTemps(const Program& program, const Facts& facts) : program_(program), facts_(facts) {}

  std::set<TempId> run() {
    for (size_t b = 0; b < program_.blocks.size(); ++b) find_definitions(b);
    for (size_t b = 0; b < program_.blocks.size(); ++b) find_uses(b);
    return std::move(out_);
  }

 private:
  void find_definitions(size_t b) {
    for (const BlockStep& step : program_.blocks[b].steps) {
      for (const Stmt& stmt : step.body) {
        if (stmt.dst < 0) continue;
        bool twice = !home_.emplace(stmt.dst, b).second;
        if (twice || stmt.kind == StmtKind::assign || is_for_caller(stmt.kind)) out_.insert(stmt.dst);
      }
    }
  }

  void find_uses(size_t b) {
    const ProgramBlock& block = program_.blocks[b];
    for (const BlockStep& step : block.steps) {
      for (const Stmt& stmt : step.body)
        for (TempId arg : stmt.args) use(arg, b);
      if (step.kind == StepKind::nest)
        for (TempId temp : nest_parameters(facts_, program_.nests[static_cast<size_t>(step.nest)])) use(temp, b);
    }
    if (block.condition >= 0) use(block.condition, b);
    if (polls_explicitly(facts_, block))
      for (const auto& [param, value] : block.edges[1].scalars) out_.insert(value);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) out_.insert(param), use(value, b);
    for (const ExitOutput& output : block.outputs)
      if (output.scalar >= 0) use(output.scalar, b);
  }

  void use(TempId temp, size_t block) {
    auto found = home_.find(temp);
    if (found == home_.end() || found->second != block) out_.insert(temp);
  }

  const Program& program_;
  const Facts& facts_;
  std::map<TempId, size_t> home_;  // the block that defines it
  std::set<TempId> out_;
};

}  // namespace

bool needs_allocation(const Buffer& buffer) { return buffer.kind == BufferKind::temp || buffer.kind == BufferKind::output; }

std::vector<BufferId> protected_buffers(const Program& program) {
  std::set<BufferId> out;
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps)
      if (step.kind == StepKind::protect) out.insert(step.buffer);
  return {out.begin(), out.end()};
}

// Inputs and cells never move, nor does what gets its memory at the start.
std::set<BufferId> fixed_buffers(const Program& program) {
  std::set<BufferId> out;
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.kind == BufferKind::input || buffer.kind == BufferKind::cell) out.insert(static_cast<BufferId>(id));
  }
  out.insert(program.early.begin(), program.early.end());
  for (const ProgramBlock& block : program.blocks)
    for (const Edge& edge : block.edges)
      for (const auto& [to, from] : edge.swaps) out.erase(to), out.erase(from);
  return out;
}

std::set<BufferId> buffers_written(const Program& program, const BlockStep& step) {
  std::set<BufferId> out;
  if (step.kind == StepKind::grow) return {step.buffer};
  collect_buffers_written(step.kind == StepKind::nest ? program.nests[static_cast<size_t>(step.nest)].body : step.body, out);
  std::erase_if(out, [&](BufferId id) { return !needs_allocation(program.buffers[static_cast<size_t>(id)]); });
  return out;
}

std::vector<std::set<BufferId>> allocated_at_start(const Program& program) { return AllocatedBuffers(program).run(); }

std::set<TempId> shared_temps(const Program& program, const Facts& facts) { return SharedTemps(program, facts).run(); }

long symbol_room(const Program& program) {
  long room = program.symbol_count;
  for (int symbol : program.bound_symbols) room = std::max<long>(room, symbol + 1);
  return room;
}

}  // namespace accel
