#include "codegen/emit/loops/loop_writer.h"

#include "codegen/analysis/loops/vector_loop.h"
#include "codegen/emit/events/event_sites.h"
#include "codegen/emit/events/event_writer.h"
#include "codegen/emit/loops/interleaved_loop_writer.h"
#include "codegen/emit/loops/lane_loop_writer.h"
#include "codegen/emit/loops/masked_loop_writer.h"
#include "codegen/emit/loops/period_writer.h"
#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/loops/vector_loop_writer.h"

namespace accel {

void LoopWriter::loop(const Stmt& stmt) {
  if (emission_.group_lane == *copy_.dims.as_symbol(stmt.var)) return counted_loop(stmt, "group", "group_end");
  if (auto count = StraightLineWriter(emission_).extent(stmt))
    return StraightLineWriter(emission_).write_copies(stmt, *count, [](int64_t) {});
  counted_loop(stmt, "0", dim(stmt.extent));
}

void LoopWriter::counted_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  if (copy_.program.records_events && !emission_.in_unit && EventSites(emission_).has_repeat(stmt.body))
    return EventWriter(emission_).loop_over_tiles(stmt, first, last);
  bool records = copy_.program.records_events && !emission_.in_unit && !EventSites(emission_).sites_of(stmt.body).empty();
  records ? EventWriter(emission_).loop(stmt, first, last) : fast_loop(stmt, first, last);
}

std::optional<MaskedLoop> LoopWriter::passes_over(const Stmt& stmt) const {
  if (stmt.loop_kind == LoopKind::serial || emission_.group_lane || emission_.in_lanes) return std::nullopt;
  return masked_loop(copy_.program, stmt);
}

void LoopWriter::fast_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  if (stmt.loop_kind != LoopKind::serial && LaneLoopWriter(emission_).fits(stmt))
    return LaneLoopWriter(emission_).write_loop(stmt, first, last);
  if (auto halves = passes_over(stmt)) return MaskedLoopWriter(emission_, stmt, *halves).write_loop(first, last);
  plain_loop(stmt, first, last);
}

void LoopWriter::plain_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  int variable_symbol = *copy_.dims.as_symbol(stmt.var);
  names_.enter(variable_symbol, resolve(stmt.extent));
  bool outside = emission_.in_vectors;
  emission_.in_vectors =
      stmt.loop_kind != LoopKind::serial && (is_straight(stmt.body) || StraightLineWriter(emission_).fills_tile(stmt));
  if (auto period = PeriodWriter(emission_).find(stmt)) {
    PeriodWriter(emission_).write_loops(stmt, *period, first, last);
  } else if (auto dtype = InterleavedLoopWriter(emission_).dtype_of(stmt)) {
    InterleavedLoopWriter(emission_).write_loop(stmt, *dtype, first, last);
  } else {
    std::string var = variable(stmt.var), end = cat("n", var);
    if (emission_.in_vectors) code_.line("#pragma GCC ivdep");
    code_.open(cat("for (i64 ", var, " = ", first, ", ", end, " = ", last, "; ", var, " < ", end, "; ++", var, ")"));
    write(stmt.body);
    code_.close();
  }
  emission_.in_vectors = outside;
  names_.leave(variable_symbol);
}

void LoopWriter::repeat(const Stmt& stmt) {
  auto vectors = vector_loop(copy_.program, stmt);
  vectors ? VectorLoopWriter(emission_, stmt, *vectors).write_loop() : plain_repeat(stmt);
}

void LoopWriter::plain_repeat(const Stmt& stmt) {
  std::string var = variable(stmt.var), end = cat("n", var);
  code_.open(cat("for (i64 ", var, " = 0, ", end, " = ", dim(stmt.extent), "; ", var, " < ", end, "; ++", var, ")"));
  write(stmt.body);
  if (!stmt.args.empty()) code_.line(cat("if (", temp_name(stmt.args[0]), " == 0) break;"));
  if (!stmt.quiet) code_.line(break_if_interrupted(var));
  code_.close();
}

std::string break_if_interrupted(const std::string& iteration) {
  return cat("if (__builtin_expect((", iteration, " & 4095) == 4095, 0) && interrupted(frame)) break;");
}

void LoopWriter::tile(const Stmt& stmt) { tiled_loop(stmt, "0", dim(stmt.extent)); }

void LoopWriter::tiled_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::string var = variable(stmt.var), end = cat("n", var), step = std::to_string(stmt.step);
  code_.open(cat("for (i64 ", var, " = ", first, ", ", end, " = ", last, "; ", var, " < ", end, "; ", var, " += ", step, ")"));
  code_.line(cat("[[maybe_unused]] const i64 ", variable(stmt.count), " = index_min(", step, ", ", end, " - ", var, ");"));
  write(stmt.body);
  code_.close();
}

}  // namespace accel
