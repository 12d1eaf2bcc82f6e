// Memory of the control flow: what certainly has some, where it is taken, and what is kept before it is written.

#include <algorithm>

#include "codegen/emit/control_function.h"
#include "codegen/emit/expressions.h"

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

}  // namespace

bool needs_holding(const Buffer& buffer) { return buffer.kind == BufferKind::temp || buffer.kind == BufferKind::output; }

std::set<BufferId> ControlFunction::written_by(const BlockStep& step) const {
  std::set<BufferId> out;
  if (step.kind == StepKind::grow) return {step.buffer};
  collect_buffers_written(step.kind == StepKind::nest ? program_.nests[static_cast<size_t>(step.nest)].body : step.body, out);
  std::erase_if(out, [&](BufferId id) { return !needs_holding(buffer_info(id)); });
  return out;
}

// Inputs and cells never move, nor does what gets its memory at the start.
void ControlFunction::find_fixed() {
  for (size_t id = 0; id < program_.buffers.size(); ++id) {
    const Buffer& buffer = program_.buffers[id];
    if (buffer.kind == BufferKind::input || buffer.kind == BufferKind::cell) fixed_.insert(static_cast<BufferId>(id));
  }
  fixed_.insert(program_.early.begin(), program_.early.end());
  for (const ProgramBlock& block : program_.blocks)
    for (const Edge& edge : block.edges)
      for (const auto& [to, from] : edge.swaps) fixed_.erase(to), fixed_.erase(from);
}

// What certainly has memory behind an edge.
void ControlFunction::pass_edge(size_t from, const Edge& edge, std::vector<std::optional<std::set<BufferId>>>& at_start,
                                std::vector<size_t>& open) {
  std::set<BufferId> held = *at_start[from];
  for (const BlockStep& step : program_.blocks[from].steps) held.merge(written_by(step));
  for (const auto& [to, other] : edge.swaps) {
    bool had = held.contains(to);
    held.contains(other) ? void(held.insert(to)) : void(held.erase(to));
    had ? void(held.insert(other)) : void(held.erase(other));
  }
  size_t target = static_cast<size_t>(edge.target);
  if (at_start[target]) std::erase_if(held, [&](BufferId id) { return !at_start[target]->contains(id); });
  if (at_start[target] == held) return;
  at_start[target] = std::move(held);
  open.push_back(target);
}

void ControlFunction::find_held() {
  std::vector<std::optional<std::set<BufferId>>> at_start(program_.blocks.size());
  at_start[0].emplace();
  std::vector<size_t> open = {0};
  while (!open.empty()) {
    size_t from = open.back();
    open.pop_back();
    const ProgramBlock& block = program_.blocks[from];
    int targets = block.end == BlockEnd::jump ? 1 : block.end == BlockEnd::branch ? 2 : 0;
    for (int k = 0; k < targets; ++k) pass_edge(from, block.edges[k], at_start, open);
  }
  for (auto& held : at_start) held_at_start_.push_back(held ? std::move(*held) : std::set<BufferId>());
}

// Gives a buffer memory that a step is about to write.
void ControlFunction::hold(BufferId id) {
  if (fixed_.contains(id) || !held_.insert(id).second) return;
  code_.line(cat("{ ", hold_text(id, "goto done"), " }"));
  refresh(id);
}

std::string ControlFunction::hold_text(BufferId id, const std::string& otherwise) {
  const Buffer& info = buffer_info(id);
  if (info.kind == BufferKind::temp)
    return cat("if (!", holds_by_call_ ? "hold_by_call" : "hold", "(frame, ", id, ", ", elements_text(id), ")) ", otherwise,
               ";");
  return cat("const i64 dims[] = {", info.shape.empty() ? "0" : "", dims_text(info.shape), "}; if (!hold_result(frame, ", id,
             ", ", info.binding, ", dims)) ", otherwise, ";");
}

// Whether the buffer is the result's own memory.
bool ControlFunction::is_in_place(const ExitOutput& output) const {
  if (output.buffer < 0) return false;
  const Buffer& info = buffer_info(output.buffer);
  return info.kind == BufferKind::output && info.binding == output.output;
}

void ControlFunction::grow(const BlockStep& step) {
  std::string bytes = cat(dim(step.elements), "*", item_size(buffer_info(step.buffer).dtype));
  stop_unless(cat("grow(frame, ", step.buffer, ", ", bytes, ")"));
  held_.insert(step.buffer);
  refresh(step.buffer);
}

namespace {

std::string or_has_no_memory(const std::string& condition, int output) {
  return cat(condition.empty() ? "" : " || ", "frame->launch->outputs[", output, "] == nullptr");
}

}  // namespace

// Where nothing can fail any more the memory need not be kept. That may depend on the events which the caller accepts.
void ControlFunction::protect(size_t block, size_t step) {
  const std::vector<BlockStep>& steps = program_.blocks[block].steps;
  Failures failures = failures_from(program_, copy_.facts, polls_, block, step);
  bool single = program_.blocks.size() == 1;
  if (failures.others || (single && !knows_memory_after(block, step))) return keep_input(steps[step].buffer);
  if (events_before(program_, copy_.facts, block, step) != 0) stop_unless(cat("!must_stop(frame, ", events_text(), ")"));
  std::string condition = failures.events == 0 ? "" : cat("(", failures.events, " & ~frame->launch->accepted) != 0");
  if (single) condition = hold_memory_after(block, step, std::move(condition));
  for (int output : failures.outputs) condition += or_has_no_memory(condition, output);
  if (!condition.empty()) {
    code_.open(cat("if (", condition, ")"));
    keep_input(steps[step].buffer);
    code_.close("} else {");
    code_.line("  commit(frame);");
    code_.line("}");
  } else {
    code_.line("commit(frame);");
  }
}

// Whether the sizes of all memory that further steps write are known at the start.
bool ControlFunction::knows_memory_after(size_t block, size_t step) {
  const ProgramBlock& b = program_.blocks[block];
  for (size_t k = step; k < b.steps.size(); ++k)
    for (BufferId id : written_by(b.steps[k])) {
      std::vector<Dim> dims = buffer_info(id).shape;
      dims.push_back(buffer_info(id).elements);
      for (Dim d : dims)
        for (int symbol : copy_.dims.symbols(d))
          if (program_.is_bound(symbol)) return false;
    }
  return true;
}

// Takes the memory of all further steps. What is left is added to the condition for a failure: outputs that the exit makes.
std::string ControlFunction::hold_memory_after(size_t block, size_t step, std::string condition) {
  const ProgramBlock& b = program_.blocks[block];
  for (size_t k = step; k < b.steps.size(); ++k)
    for (BufferId id : written_by(b.steps[k])) hold(id);
  for (const ExitOutput& output : b.outputs) {
    if (is_in_place(output)) continue;
    condition += or_has_no_memory(condition, output.output);
  }
  return condition;
}

void ControlFunction::keep_input(BufferId id) {
  size_t place = static_cast<size_t>(std::find(protected_.begin(), protected_.end(), id) - protected_.begin());
  code_.open("");
  stop_unless(keep_call(cat("kept[", static_cast<long>(place), "]"), id));
  code_.close();
}

// Writes where the elements of a buffer lie; returns the call that keeps them.
std::string ControlFunction::keep_call(const std::string& kept, BufferId id) {
  const Buffer& info = buffer_info(id);
  bool dense = info.kind != BufferKind::input;
  Dim item = copy_.dims.constant(item_size(info.dtype));
  std::vector<Dim> shape = dense ? std::vector<Dim>{info.elements} : info.shape;
  std::vector<Dim> strides = dense ? std::vector<Dim>{item} : info.strides;
  code_.line(cat("const i64 shape[] = {", shape.empty() ? "0" : "", dims_text(shape), "};"));
  code_.line(cat("const i64 strides[] = {", strides.empty() ? "0" : "", dims_text(strides), "};"));
  return cat("keep_input(frame, ", kept, ", ", id, ", ", static_cast<long>(shape.size()), ", ", item_size(info.dtype),
             ", shape, strides)");
}

}  // namespace accel
