#include "schedule/loops/list_fusion.h"

#include <algorithm>
#include <iterator>

#include "schedule/analysis/items.h"
#include "schedule/loops/memory_use.h"
#include "schedule/program/edit.h"

namespace accel {

namespace {

// Whether nothing in the program but one load reads the memory.
bool has_one_reader(const Program& program, BufferId memory) {
  int count = 0;
  for (const Nest& nest : program.nests) count += count_reads(program, nest.body, memory);
  for (const ProgramBlock& block : program.blocks) {
    for (const BlockStep& step : block.steps) {
      count += count_reads(program, step.body, memory);
      if (step.kind != StepKind::nest && step.buffer == memory) return false;
    }
    for (const ExitOutput& output : block.outputs)
      if (output.buffer == memory) return false;
    for (const Edge& edge : block.edges)
      for (const auto& [first, second] : edge.swaps)
        if (first == memory || second == memory) return false;
  }
  return count == 1 && program.buffers[static_cast<size_t>(memory)].kind == BufferKind::temp;
}

// The list that a nest consists of, with numbers before it.
Stmt* list_of(Nest& nest) {
  const auto last = std::prev(nest.body.end());
  const bool is_alone = std::all_of(nest.body.begin(), last, [](const Stmt& s) { return is_number(s.kind); });
  return last->kind == StmtKind::list && is_alone ? &*last : nullptr;
}

// A loop over positions of the list, of numbers, elements at positions, and stores.
const Stmt* loop_over_list(const Nest& nest) {
  const Items items = items_of(nest);
  auto fits = [](const Stmt& s) { return is_number(s.kind) || s.kind == StmtKind::gather || s.kind == StmtKind::store; };
  if (items.loops.size() != 1 || !std::all_of(items.body->begin(), items.body->end(), fits)) return nullptr;
  return items.loops[0];
}

bool fuse(Program& program, Nest& nest, const Nest& next) {
  DimTable& dims = program.dims;
  if (nest.body.empty() || next.body.empty()) return false;
  Stmt* const list = list_of(nest);
  const Stmt* const loop = loop_over_list(next);
  if (list == nullptr || loop == nullptr) return false;
  const BufferId memory = program.memory_of(list->address.buffer);
  const auto all = std::find_if(nest.body.begin(), nest.body.end(), [&](const Stmt& s) { return s.dst == list->args[3]; });
  const bool has_all = all != nest.body.end() && all->kind == StmtKind::index && all->dim == loop->extent;
  const bool is_listed = !list->body.empty() && list->body.back().kind == StmtKind::listed;
  if (!has_all || is_listed || !has_one_reader(program, memory)) return false;

  Stmt listed = *loop;
  listed.kind = StmtKind::listed;
  listed.count = dims.new_variable();
  const auto load = std::find_if(listed.body.begin(), listed.body.end(), [&](const Stmt& s) {
    return s.kind == StmtKind::load && program.memory_of(s.address.buffer) == memory && s.dtype == DType::int64;
  });
  if (load == listed.body.end() || load->address.offset != dims.add(list->address.offset, dims.mul(loop->var, 8))) return false;
  MemoryUse use = memory_use_of(program, nest.body), later = memory_use_of(program, next.body);
  use.stored.erase(memory);
  later.loaded.erase(memory);
  if (meet(later.stored, use.loaded) || meet(later.stored, use.stored) || meet(later.stored, later.loaded)) return false;
  if (later.stored.contains(memory) || meet(use.stored, later.loaded)) return false;

  Stmt position;
  position.kind = StmtKind::index;
  position.dtype = DType::int64;
  position.dst = load->dst;
  position.dim = listed.count;
  position.where = load->where;
  *load = std::move(position);
  list->body.push_back(std::move(listed));
  nest.body.insert(nest.body.begin(), next.body.begin(), next.body.end() - 1);
  nest.work = dims.add(nest.work, next.work);
  return true;
}

bool fuse_steps(Program& program, ProgramBlock& block) {
  for (size_t k = 1; k < block.steps.size(); ++k) {
    const BlockStep &first = block.steps[k - 1], &second = block.steps[k];
    if (first.kind != StepKind::nest || second.kind != StepKind::nest) continue;
    const int next = second.nest;
    if (!fuse(program, program.nests[static_cast<size_t>(first.nest)], program.nests[static_cast<size_t>(next)])) continue;
    block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(k));
    erase_nest(program, next);
    return true;
  }
  return false;
}

}  // namespace

Result<bool> fuse_into_lists(ProgramState& state) {
  bool changed = false;
  for (ProgramBlock& block : state.program.blocks)
    while (fuse_steps(state.program, block)) changed = true;
  return changed;
}

}  // namespace accel
