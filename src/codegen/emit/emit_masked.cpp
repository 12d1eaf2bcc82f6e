// Writer of loops in two halves (codegen/analysis/masked_loop.h), strip by strip: the first half leaves its masks as bytes, and
// the second half is done for strips of which a byte is set.

#include <algorithm>
#include <utility>

#include "codegen/emit/expressions.h"
#include "codegen/emit/kernel_function.h"

namespace accel {

namespace {

// Few enough that whole strips are passed over, and that both halves find what they share in the nearest cache.
constexpr int mask_strip = 128;

}  // namespace

std::optional<MaskedLoop> KernelFunction::passes_over(const Stmt& stmt) const {
  if (stmt.loop_kind == LoopKind::serial || group_lane_ || in_lanes_) return std::nullopt;
  return masked_loop(copy_.program, stmt);
}

// The first half for the elements of a strip: leaves the masks. By squares: says in `open` when they are not enough.
void KernelFunction::first_half(const Stmt& stmt, const MaskedLoop& halves, bool by_squares) {
  std::string element = open_strip(stmt);
  for (const Stmt* s : halves.first) {
    if (by_squares && halves.comparisons.contains(s))
      compare_squares(*s, halves);
    else if (!by_squares || !halves.moduli.contains(s))
      write(*s);
  }
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

// The modulus that a comparison is of.
const Stmt& KernelFunction::modulus_of(const Stmt& comparison, const MaskedLoop& halves) const {
  return **std::find_if(halves.moduli.begin(), halves.moduli.end(),
                        [&](const Stmt* modulus) { return compared_modulus(comparison, {modulus->dst}).has_value(); });
}

// A mask that surely holds where it does.
void KernelFunction::compare_squares(const Stmt& comparison, const MaskedLoop& halves) {
  const Stmt& modulus = modulus_of(comparison, halves);
  bool below = compared_modulus(comparison, {modulus.dst})->below;
  std::string square = cat("square", comparison.dst), limits = cat("limits", comparison.dst);
  code_.line(cat("const ", type(modulus.dst), " ", square, " = moderate_square(", temp_name(modulus.args[0]), ");"));
  code_.line(cat("const bool8 is_below", comparison.dst, " = is_less(", square, ", ", limits, ".below);"));
  code_.line(cat("const bool8 is_above", comparison.dst, " = is_less(", limits, ".above, ", square, ");"));
  code_.line(cat("open |= (u32)(!(is_below", comparison.dst, " | is_above", comparison.dst, ") | isnan(",
                 temp_name(modulus.args[0]), "));"));
  code_.line(cat("[[maybe_unused]] const bool8 ", temp_name(comparison.dst), " = ", below ? "is_below" : "is_above",
                 comparison.dst, ";"));
}

void KernelFunction::write_limits(const MaskedLoop& halves) {
  for (const Stmt* comparison : halves.comparisons) {
    TempId number = compared_modulus(*comparison, {modulus_of(*comparison, halves).dst})->number;
    const Stmt* source = copy_.facts.definition(number);
    bool constant = source != nullptr && source->kind == StmtKind::constant;
    std::string text = constant ? cpp_literal(source->literal) : temp_name(number);
    code_.line(cat("const SquareLimits<", type(number), "> limits", comparison->dst, " = square_limits(", text, ");"));
  }
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
  code_.open("");
  write_limits(halves);
  code_.open(cat("for (i64 strip = ", first, ", stop = ", last, "; strip < stop; strip += ", mask_strip, ")"));
  code_.line(cat("const i64 strip_end = index_min(strip + ", mask_strip, ", stop);"));
  for (TempId mask : halves.handed) code_.line(cat("u8 holds", mask, "[", mask_strip, "] __attribute__((aligned(64)));"));
  // The sink of a strip is its own: the compiler keeps it in registers.
  code_.line("[[maybe_unused]] Sink sink;");
  if (halves.comparisons.empty()) {
    first_half(stmt, halves, false);
  } else {
    code_.line("u32 open = 0;");
    first_half(stmt, halves, true);
    code_.open("if (open != 0)");
    first_half(stmt, halves, false);
    code_.close();
  }
  code_.line("u8 any = 0;");
  code_.open("for (i64 k = 0; k < strip_end - strip; ++k)");
  for (TempId mask : halves.masks) code_.line(cat("any |= holds", mask, "[k];"));
  code_.close();
  code_.open("if (any != 0)");
  second_half(stmt, halves);
  code_.close();
  if (has_sink_) code_.line("show(sink);");
  code_.close();
  code_.close();
  has_sink_ = has_sink;
  in_vectors_ = outside;
}

}  // namespace accel
