#include "codegen/emit/control/control_function.h"

#include <algorithm>

#include "codegen/analysis/block_memory.h"
#include "codegen/emit/control/block_writer.h"
#include "codegen/emit/control/exit_writer.h"
#include "codegen/emit/control/memory_writer.h"

namespace accel {

namespace {

// Lines of text up to which a function is compiled with more effort.
constexpr std::ptrdiff_t most_lines_that_run_once = 200, most_lines_at_full_effort = 1000, most_lines_in_loops = 4000;

}  // namespace

Result<std::string> ControlFunction::write_program() {
  Code out;
  ACCEL_TRY(std::string loops, write_loops());
  for (size_t b = 0; b < control_.program.blocks.size(); ++b) BlockWriter(control_).write_block(b);
  if (control_.emission.failure) return *control_.emission.failure;
  out.raw(loops);
  ExitWriter(control_).write_tables(out);
  open_blocks(out, "[[maybe_unused]] Backup* backups");
  out.raw(blocks_text());
  close_blocks(out);
  write_wrapper(out);
  return out.text();
}

// The functions of the program's parallel loops.
Result<std::string> ControlFunction::write_loops() {
  std::string out;
  for (size_t k = 0; k < control_.program.parallel_loops.size(); ++k) {
    ControlFunction function(control_, control_.program.parallel_loops[k], cat(control_.name, "_loop", static_cast<long>(k)));
    ACCEL_TRY(std::string text, function.write_loop());
    out += text;
    control_.loop_symbols.push_back(function.control_.emission.names.symbols());
  }
  return out;
}

// --- the function of the blocks ---------------------------------------------------------------------------------------

// What the compiler is to spend on the function. Some of g++'s passes take time that grows with the square of its length: long
// functions do without them, and so does code that runs once.
std::string ControlFunction::effort() const {
  const std::string& text = control_.emission.code.text();
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines > (control_.polls.has_loops ? most_lines_in_loops : most_lines_that_run_once)) return "ACCEL_FOR_SIZE ";
  return lines > most_lines_at_full_effort ? "ACCEL_LONG " : "";
}

// The function of the blocks gets the addresses of memory that does not move as parameters.
void ControlFunction::open_blocks(Code& out, const std::string& parameters) {
  std::string memory;
  for (BufferId id : control_.emission.names.buffers())
    if (control_.fixed.contains(id)) memory += cat(", [[maybe_unused]] char* __restrict b", id);
  out.open(cat("static __attribute__((noinline)) ", effort(), "void ", control_.name, "_blocks(Frame* frame, ", parameters,
               memory, ")"));
  for (BufferId id : control_.emission.names.buffers())
    if (control_.fixed.contains(id)) out.line(cat("expose(b", id, ");"));
  write_locals(out);
}

void ControlFunction::close_blocks(Code& out) {
  out.line("done:");
  if (control_.emission.has_sink) out.line("show(sink);");
  out.line(cat("report(frame, ", control_.events_text(), ");"));
  out.line("return;");
  out.close();
}

void ControlFunction::write_locals(Code& out) {
  const Emission& emission = control_.emission;
  const Names& names = emission.names;
  out.line("[[maybe_unused]] i64* const symbols = (i64*)frame->symbols;");
  for (int symbol : names.symbols())
    out.line(control_.is_bound(symbol) ? cat("i64 s", symbol, " = 0;")
                                       : cat("const i64 s", symbol, " = symbols[", symbol, "];"));
  out.line("int status = 0;");
  const long homes = static_cast<long>(control_.homes.size());
  if (homes > 0) out.line(cat("char home[", homes, "][16] __attribute__((aligned(16)));"));
  out.line("[[maybe_unused]] i64 turns = poll_turns;");
  for (const auto& [header, strip] : control_.polls.strips) out.line(cat("i64 strip", static_cast<long>(header), " = 0;"));
  if (control_.has_draws) out.line("const AccelDraw* const draws = frame->launch->draws;");
  for (BufferId id : names.buffers())
    if (!control_.fixed.contains(id)) out.line(cat("char* b", id, " = frame->buffers[", id, "];"));
  for (const auto& [name, value] : *emission.inputs) out.line(cat("const auto ", name, " = ", value, ";"));
  for (TempId temp : emission.declared) out.line(cat("[[maybe_unused]] ", names.type(temp), " ", temp_name(temp), "{};"));
  if (emission.has_lanes) out.line("const u64 hidden = opaque<u64>(0);");
  if (emission.has_sink) out.line("Sink sink;");
}

std::string ControlFunction::blocks_text() const {
  return without_marks(control_.emission.code.text(), control_.emission.names.buffers());
}

// The function that the kernel calls: it allocates the memory that does not move, and clears the flags.
void ControlFunction::write_wrapper(Code& out) {
  Names& names = control_.emission.names;
  std::string arguments;
  std::vector<std::string> allocations;  // they name symbols
  for (BufferId id : names.buffers()) {
    if (!control_.fixed.contains(id)) continue;
    arguments += cat(", frame->buffers[", id, "]");
    if (!needs_allocation(names.buffer_info(id))) continue;
    allocations.push_back(cat("{ ", MemoryWriter(control_).allocation_text(id, "return"), " }"));
  }
  out.open(cat("static void ", control_.name, "(Frame* frame, Backup* backups)"));
  out.line("[[maybe_unused]] const i64* const symbols = frame->symbols;");
  for (int symbol : names.symbols()) out.line(cat("[[maybe_unused]] const i64 s", symbol, " = symbols[", symbol, "];"));
  for (const std::string& line : allocations) out.line(line);
  if (control_.events != 0) out.line("fp_clear();");
  out.line(cat(control_.name, "_blocks(frame, backups", arguments, ");"));
  out.close();
}

}  // namespace accel
