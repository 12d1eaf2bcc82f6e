// The function of a parallel loop of the control flow: its blocks, and the function that threads call for a part of its
// iterations.

#include <algorithm>

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/block_writer.h"
#include "codegen/emit/control/control_function.h"
#include "codegen/emit/control/parallel_loop_writer.h"

namespace accel {

Result<std::string> ControlFunction::write_loop() {
  const ParallelLoop& loop = *control_.loop;
  for (int b : loop.blocks) BlockWriter(control_).write_block(static_cast<size_t>(b));
  if (control_.emission.failure) return *control_.emission.failure;
  const std::vector<TempId> temps = temps_of_loop(control_, loop);
  control_.emission.declared = {temps.begin(), temps.end()};
  const std::string& name = control_.name;
  Code out;
  out.open(cat("struct ", name, "_temps"));
  for (TempId temp : temps) out.line(cat(control_.emission.names.type(temp), " ", temp_name(temp), ";"));
  out.close("};");
  open_blocks(out, "LoopRun* run, i64 begin, i64 count");
  out.line(cat("const ", name, "_temps* const given = (const ", name, "_temps*)run->temps;"));
  for (TempId temp : temps) out.line(cat(temp_name(temp), " = given->", temp_name(temp), ";"));
  out.line(cat(temp_name(loop.counter), " += (run->first + begin) * ", static_cast<long>(loop.step), ";"));
  out.line(cat("goto l", loop.header, ";"));
  out.raw(blocks_text());
  if (loop.leaves) {
    out.line("left: __attribute__((cold));");
    out.line("__atomic_store_n(&run->left, 1, __ATOMIC_RELAXED);");
  }
  close_blocks(out);
  write_part(out);
  return out.text();
}

bool ControlFunction::is_own(BufferId id) const {
  const std::vector<int>& own = control_.loop->own;
  return std::find(own.begin(), own.end(), id) != own.end();
}

// The function that threads call: it makes a frame for its part of the loop and runs the blocks.
void ControlFunction::write_part(Code& out) {
  Names& names = control_.emission.names;
  std::vector<BufferId> memory;  // of this call
  for (size_t k = 0; k < control_.program.buffers.size(); ++k) {
    BufferId id = static_cast<BufferId>(k);
    if (is_own(id) || names.buffer_info(id).kind == BufferKind::scratch) memory.push_back(id);
  }
  out.open(cat("static void ", control_.name, "(void* arguments, i64 begin, i64 end)"));
  write_frame(out, memory);
  std::string arguments, allocated;
  for (BufferId id : names.buffers()) {
    if (!control_.fixed.contains(id)) continue;
    arguments += cat(", buffers[", id, "]");
    if (is_own(id))
      allocated += cat(allocated.empty() ? "" : " && ", "allocate_buffer(frame, ", id, ", ", names.bytes(id), ")");
  }
  for (int symbol : names.symbols()) out.line(cat("[[maybe_unused]] const i64 s", symbol, " = symbols[", symbol, "];"));
  std::string call = cat(control_.name, "_blocks(frame, run, begin, end - begin", arguments, ");");
  out.line(allocated.empty() ? call : cat("if (", allocated, ") ", call));
  for (BufferId id : memory) out.line(cat("drop_temp(frame, ", id, ");"));
  out.line("__atomic_fetch_or(&run->status, own.status, __ATOMIC_RELAXED);");
  out.close();
}

// `memory`: buffers that this call has by itself.
void ControlFunction::write_frame(Code& out, const std::vector<BufferId>& memory) {
  const Program& program = control_.program;
  long buffers = static_cast<long>(program.buffers.size()), symbols = symbol_room(program), cells = 0;
  for (const Buffer& buffer : program.buffers) cells += buffer.kind == BufferKind::cell;
  out.line("LoopRun* const run = (LoopRun*)arguments;");
  out.line("if (is_over(run)) return;");
  out.line(cat("char* buffers[", buffers + 1, "];"));
  out.line(cat("i64 capacities[", buffers + 1, "], symbols[", symbols + 1, "];"));
  out.line(cat("Frame own = frame_of(run, buffers, capacities, ", buffers, ", symbols, ", symbols, ");"));
  out.line("Frame* const frame = &own;");
  if (cells > 0) out.line(cat("char cells[", cells, "][16];"));
  for (size_t k = 0; k < program.buffers.size(); ++k)
    if (program.buffers[k].kind == BufferKind::cell)
      out.line(cat("buffers[", static_cast<long>(k), "] = cells[", --cells, "];"));
  for (BufferId id : memory) out.line(cat("buffers[", id, "] = nullptr, capacities[", id, "] = 0;"));
}

}  // namespace accel
