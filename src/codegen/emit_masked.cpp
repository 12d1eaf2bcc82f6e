// Writer of loops in two halves (codegen/masked_loop.h), strip by strip: the first half leaves its masks as bytes, and the
// second half is done for strips of which a byte is set.

#include <algorithm>
#include <utility>

#include "codegen/kernel_function.h"

namespace accel {

namespace {

// Few enough that whole strips are passed over, and that both halves find what they share in the nearest cache.
constexpr int strip = 128;

}  // namespace

std::optional<MaskedLoop> KernelFunction::passes_over(const Stmt& stmt) const {
  if (stmt.loop_kind == LoopKind::serial || group_lane_ || in_lanes_) return std::nullopt;
  return masked_loop(copy_.program, stmt);
}

// The first half for the elements of a strip: leaves the masks.
void KernelFunction::first_half(const Stmt& stmt, const MaskedLoop& halves) {
  std::string element = open_strip(stmt);
  for (const Stmt* s : halves.first) write(*s);
  for (TempId mask : halves.handed) code_.line(cat("holds", mask, element, " = ", temp_name(mask), ";"));
  code_.close();
}

// The second half for the elements of a strip.
void KernelFunction::second_half(const Stmt& stmt, const MaskedLoop& halves) {
  std::string element = open_strip(stmt);
  for (TempId mask : halves.handed) code_.line(cat("const bool8 ", temp_name(mask), " = holds", mask, element, " != 0;"));
  for (const Stmt* s : halves.second) write(*s);
  code_.close();
}

// Opens a loop over the elements of a strip; returns the index of one in arrays of the strip.
std::string KernelFunction::open_strip(const Stmt& stmt) {
  std::string var = variable(stmt.var);
  code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", var, " = strip; ", var, " < strip_end; ++", var, ")"));
  return cat("[", var, " - strip]");
}

void KernelFunction::loop_in_halves(const Stmt& stmt, const MaskedLoop& halves, const std::string& first,
                                    const std::string& last) {
  bool has_sink = std::exchange(has_sink_, false), outside = std::exchange(in_vectors_, true);
  code_.open(cat("for (i64 strip = ", first, ", stop = ", last, "; strip < stop; strip += ", strip, ")"));
  code_.line(cat("const i64 strip_end = index_min(strip + ", strip, ", stop);"));
  for (TempId mask : halves.handed) code_.line(cat("u8 holds", mask, "[", strip, "] __attribute__((aligned(64)));"));
  // The sink of a strip is its own: the compiler keeps it in registers.
  code_.line("[[maybe_unused]] Sink sink;");
  first_half(stmt, halves);
  code_.line("u8 any = 0;");
  code_.open("for (i64 k = 0; k < strip_end - strip; ++k)");
  for (TempId mask : halves.masks) code_.line(cat("any |= holds", mask, "[k];"));
  code_.close();
  code_.open("if (any != 0)");
  second_half(stmt, halves);
  code_.close();
  if (has_sink_) code_.line("show(sink);");
  code_.close();
  has_sink_ = has_sink;
  in_vectors_ = outside;
}

}  // namespace accel
