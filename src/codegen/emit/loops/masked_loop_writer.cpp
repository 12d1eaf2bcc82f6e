#include "codegen/emit/loops/masked_loop_writer.h"

#include <algorithm>
#include <utility>

#include "codegen/analysis/loops/vector_loop.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

// Few enough that whole strips are passed over, and that both halves find what they share in the nearest cache.
constexpr int mask_strip = 128;

}  // namespace

void MaskedLoopWriter::write_loop(const std::string& first, const std::string& last) {
  bool has_sink = std::exchange(emission_.has_sink, false), outside = std::exchange(emission_.in_vectors, true);
  code_.open("");
  write_limits();
  code_.open(cat("for (i64 strip = ", first, ", stop = ", last, "; strip < stop; strip += ", mask_strip, ")"));
  write_strip();
  code_.close();
  code_.close();
  emission_.has_sink = has_sink;
  emission_.in_vectors = outside;
}

void MaskedLoopWriter::write_strip() {
  code_.line(cat("const i64 strip_end = index_min(strip + ", mask_strip, ", stop);"));
  for (TempId mask : halves_.handed) code_.line(cat("u8 holds", mask, "[", mask_strip, "] __attribute__((aligned(64)));"));
  // The sink of a strip is its own: the compiler keeps it in registers.
  code_.line("[[maybe_unused]] Sink sink;");
  if (halves_.comparisons.empty()) {
    first_half(false);
  } else {
    code_.line("u32 open = 0;");
    first_half(true);
    code_.open("if (open != 0)");
    first_half(false);
    code_.close();
  }
  code_.line("u8 any = 0;");
  code_.open("for (i64 k = 0; k < strip_end - strip; ++k)");
  for (TempId mask : halves_.masks) code_.line(cat("any |= holds", mask, "[k];"));
  code_.close();
  code_.open("if (any != 0)");
  second_half();
  code_.close();
  if (emission_.has_sink) code_.line("show(sink);");
}

// Opens a loop over the elements of a strip; returns the index of one in arrays of the strip.
std::string MaskedLoopWriter::open_strip() {
  std::string var = variable(loop_.var);
  code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", var, " = strip; ", var, " < strip_end; ++", var, ")"));
  return cat("[", var, " - strip]");
}

// The first half for the elements of a strip: leaves the masks. By squares: says in `open` when they are not enough.
void MaskedLoopWriter::first_half(bool by_squares) {
  std::string element = open_strip();
  for (const Stmt* s : halves_.first) {
    if (by_squares && halves_.comparisons.contains(s))
      compare_squares(*s);
    else if (!by_squares || !halves_.moduli.contains(s))
      write(*s);
  }
  for (TempId mask : halves_.handed) code_.line(cat("holds", mask, element, " = ", temp_name(mask), ";"));
  code_.close();
}

// The second half for the elements of a strip.
void MaskedLoopWriter::second_half() {
  std::string element = open_strip();
  for (TempId mask : halves_.handed) code_.line(cat("const bool8 ", temp_name(mask), " = holds", mask, element, " != 0;"));
  for (const Stmt* s : halves_.second) write(*s);
  code_.close();
}

// The modulus that a comparison is of.
const Stmt& MaskedLoopWriter::modulus_of(const Stmt& comparison) const {
  return **std::find_if(halves_.moduli.begin(), halves_.moduli.end(),
                        [&](const Stmt* modulus) { return compared_modulus(comparison, {modulus->dst}).has_value(); });
}

// Decides a comparison of a modulus by its square, and sets `open` where the square is too near to the limit, or NaN.
void MaskedLoopWriter::compare_squares(const Stmt& comparison) {
  const Stmt& modulus = modulus_of(comparison);
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

void MaskedLoopWriter::write_limits() {
  for (const Stmt* comparison : halves_.comparisons) {
    TempId number = compared_modulus(*comparison, {modulus_of(*comparison).dst})->number;
    const Stmt* source = copy_.facts.definition(number);
    bool constant = source != nullptr && source->kind == StmtKind::constant;
    std::string text = constant ? cpp_literal(source->literal) : temp_name(number);
    code_.line(cat("const SquareLimits<", type(number), "> limits", comparison->dst, " = square_limits(", text, ");"));
  }
}

}  // namespace accel
