#include "codegen/analysis/deferred_checks.h"

#include <map>
#include <vector>

#include "codegen/analysis/statements.h"

namespace accel {

namespace {

class CheckFinder {
 public:
  explicit CheckFinder(const Program& program) : program_(program) {}

  DeferredChecks find() {
    for (const ProgramBlock& block : program_.blocks) look_at(block);
    for (const Nest& nest : program_.nests)
      for (TempId temp : temps_from_outside(nest.body)) used_.insert(temp);
    DeferredChecks out;
    for (const auto& [cell, temps] : loads_)
      if (is_check(cell, temps)) out.cells.insert(cell);
    for (size_t b = 0; b < program_.blocks.size(); ++b)
      out.are_in_loops |= computes(program_.blocks[b], out.cells) && repeats(b);
    return out;
  }

 private:
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }

  void look_at(const ProgramBlock& block) {
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body) look_at(stmt);
    if (block.end == BlockEnd::branch) (block.is_deferrable ? tested_ : used_).insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) used_.insert({param, value});
    for (const ExitOutput& output : block.outputs) used_.insert(output.scalar);
  }

  void look_at(const Stmt& stmt) {
    used_.insert(stmt.args.begin(), stmt.args.end());
    const bool is_load = stmt.kind == StmtKind::load && buffer(stmt.address.buffer).kind == BufferKind::cell;
    if (is_load) loads_[stmt.address.buffer].insert(stmt.dst);
    if (!is_load && stmt.dst >= 0) used_.insert(stmt.dst);  // may not be what a cell has
    if (!is_load && stmt.address.buffer >= 0) accessed_.insert(stmt.address.buffer);
    for (const Stmt& inner : stmt.body) look_at(inner);
  }

  bool is_check(BufferId cell, const std::set<TempId>& temps) const {
    if (buffer(cell).dtype != DType::bool_ || accessed_.contains(cell)) return false;
    for (TempId temp : temps)
      if (used_.contains(temp) || !tested_.contains(temp)) return false;
    return true;
  }

  bool computes(const ProgramBlock& block, const std::set<BufferId>& cells) const {
    for (const BlockStep& step : block.steps) {
      if (step.kind != StepKind::nest) continue;
      for (BufferId id : buffers_of(program_.nests[static_cast<size_t>(step.nest)].body))
        if (cells.contains(id)) return true;
    }
    return false;
  }

  // Whether the block runs again after it has run.
  bool repeats(size_t number) const {
    std::set<size_t> reached;
    std::vector<size_t> open = {number};
    while (!open.empty()) {
      const ProgramBlock& block = program_.blocks[open.back()];
      open.pop_back();
      for (const Edge& edge : edges_of(block))
        if (reached.insert(static_cast<size_t>(edge.target)).second) open.push_back(static_cast<size_t>(edge.target));
    }
    return reached.contains(number);
  }

  const Program& program_;
  std::map<BufferId, std::set<TempId>> loads_;  // by cell: the temps that get its value
  std::set<TempId> used_;                       // temps that have to have their value, or another one than a cell's
  std::set<TempId> tested_;                     // conditions of deferrable branches
  std::set<BufferId> accessed_;                 // by scalar steps, other than by loads of cells
};

}  // namespace

DeferredChecks deferred_checks(const Program& program) {
  return program.target.is_device() ? CheckFinder(program).find() : DeferredChecks{};
}

}  // namespace accel
