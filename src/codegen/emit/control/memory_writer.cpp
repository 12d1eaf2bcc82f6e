#include "codegen/emit/control/memory_writer.h"

#include <algorithm>

#include "codegen/analysis/block_memory.h"

namespace accel {

namespace {

// Code without loops that has more buffers takes memory by calls.
constexpr size_t most_allocated_inline = 32;

std::string or_has_no_memory(const std::string& condition, int output) {
  return cat(condition.empty() ? "" : " || ", "frame->launch->outputs[", output, "] == nullptr");
}

}  // namespace

bool is_in_place(const Program& program, const ExitOutput& output) {
  if (output.buffer < 0) return false;
  const Buffer& info = program.buffers[static_cast<size_t>(output.buffer)];
  return info.kind == BufferKind::output && info.binding == output.output;
}

void MemoryWriter::allocate(BufferId id) {
  if (control_.fixed.contains(id) || !control_.allocated.insert(id).second) return;
  code_.line(cat("{ ", allocation_text(id, "goto done"), " }"));
  refresh(id);
}

bool MemoryWriter::allocates_by_call() const {
  return !control_.polls.has_loops && program_.buffers.size() > most_allocated_inline;
}

std::string MemoryWriter::allocation_text(BufferId id, const std::string& otherwise) {
  const Buffer& info = buffer_info(id);
  if (info.kind == BufferKind::temp)
    return cat("if (!", allocates_by_call() ? "allocate_buffer_by_call" : "allocate_buffer", "(frame, ", id, ", ",
               names_.bytes(id), ")) ", otherwise, ";");
  return cat("const i64 dims[] = {", info.shape.empty() ? "0" : "", dims_text(info.shape), "}; if (!allocate_result(frame, ",
             id, ", ", info.binding, ", dims)) ", otherwise, ";");
}

void MemoryWriter::grow(const BlockStep& step) {
  std::string bytes = cat(dim(step.elements), "*", item_size(buffer_info(step.buffer).dtype));
  const char* grow = program_.target.is_device() ? "grow_on_device" : "grow";
  stop_unless(cat(grow, "(frame, ", step.buffer, ", ", bytes, ")"));
  control_.allocated.insert(step.buffer);
  refresh(step.buffer);
}

// No backup is needed where nothing after the store can fail, which may depend on the events that the caller accepts.
void MemoryWriter::protect(size_t block, size_t step) {
  const std::vector<BlockStep>& steps = program_.blocks[block].steps;
  Failures failures = failures_from(program_, copy_.facts, control_.polls.edges, block, step);
  bool single = program_.blocks.size() == 1;
  if (failures.others || (single && !are_sizes_known_after(block, step))) return back_up_input(steps[step].buffer);
  if (events_before(program_, copy_.facts, block, step) != 0) stop_unless(cat("!must_stop(frame, ", events_text(), ")"));
  std::string condition = failures.events == 0 ? "" : cat("(", failures.events, " & ~frame->launch->accepted) != 0");
  if (single) condition = allocate_memory_after(block, step, std::move(condition));
  for (int output : failures.outputs) condition += or_has_no_memory(condition, output);
  if (!condition.empty()) {
    code_.open(cat("if (", condition, ")"));
    back_up_input(steps[step].buffer);
    code_.close("} else {");
    code_.line("  commit(frame);");
    code_.line("}");
  } else {
    code_.line("commit(frame);");
  }
}

// Whether the sizes of all memory that further steps write are known at the start.
bool MemoryWriter::are_sizes_known_after(size_t block, size_t step) {
  const ProgramBlock& b = program_.blocks[block];
  for (size_t k = step; k < b.steps.size(); ++k)
    for (BufferId id : buffers_written(program_, b.steps[k])) {
      std::vector<Dim> dims = buffer_info(id).shape;
      dims.push_back(buffer_info(id).elements);
      for (Dim d : dims)
        for (int symbol : copy_.dims.symbols(d))
          if (program_.is_bound(symbol)) return false;
    }
  return true;
}

// Allocates the memory of all further steps, and adds to the failure condition the outputs that the exit has to allocate.
std::string MemoryWriter::allocate_memory_after(size_t block, size_t step, std::string condition) {
  const ProgramBlock& b = program_.blocks[block];
  for (size_t k = step; k < b.steps.size(); ++k)
    for (BufferId id : buffers_written(program_, b.steps[k])) allocate(id);
  for (const ExitOutput& output : b.outputs) {
    if (is_in_place(program_, output)) continue;
    condition += or_has_no_memory(condition, output.output);
  }
  return condition;
}

void MemoryWriter::back_up_input(BufferId id) {
  const std::vector<BufferId>& all = control_.protected_buffers;
  size_t position = static_cast<size_t>(std::find(all.begin(), all.end(), id) - all.begin());
  code_.open("");
  stop_unless(backup_call(cat("backups[", static_cast<long>(position), "]"), id));
  code_.close();
}

std::string MemoryWriter::backup_call(const std::string& backup, BufferId id) {
  const Buffer& info = buffer_info(id);
  bool dense = info.kind != BufferKind::input;
  Dim item = copy_.dims.constant(item_size(info.dtype));
  std::vector<Dim> shape = dense ? std::vector<Dim>{info.elements} : info.shape;
  std::vector<Dim> strides = dense ? std::vector<Dim>{item} : info.strides;
  code_.line(cat("const i64 shape[] = {", shape.empty() ? "0" : "", dims_text(shape), "};"));
  code_.line(cat("const i64 strides[] = {", strides.empty() ? "0" : "", dims_text(strides), "};"));
  return cat("back_up_input(frame, ", backup, ", ", id, ", ", static_cast<long>(shape.size()), ", ", item_size(info.dtype),
             ", shape, strides)");
}

}  // namespace accel
