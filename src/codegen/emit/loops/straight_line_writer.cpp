#include "codegen/emit/loops/straight_line_writer.h"

#include <algorithm>

namespace accel {

namespace {

// How often unrolling copies a statement.
constexpr int64_t most_copies = 64;

}  // namespace

std::optional<int64_t> StraightLineWriter::extent(const Stmt& stmt, int64_t most) {
  auto extent = constant_value(stmt.extent);
  if (!extent || *extent > most || *extent < 0) return std::nullopt;
  if (emission_.copies * std::max<int64_t>(*extent, 1) > most_copies) return std::nullopt;
  return extent;
}

bool StraightLineWriter::is_straight(const Body& body) {
  return std::all_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    if (!stmt.operands.empty() || stmt.kind == StmtKind::tile) return false;
    if (stmt.kind == StmtKind::store) return buffer_info(stmt.address.buffer).kind != BufferKind::scratch;
    if (stmt.body.empty()) return true;
    auto extent = constant_value(stmt.extent);
    bool few_parts = stmt.kind != StmtKind::pairwise || dtype_kind(dtype(stmt.args[0])) != 'c' || extent <= 3;
    return extent && *extent <= most_unrolled && few_parts && stmt.chunk == 0 && is_straight(stmt.body);
  });
}

bool StraightLineWriter::fills_tile(const Stmt& loop) {
  int variable = *copy_.dims.as_symbol(loop.var);
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& stmt) {
    return stmt.kind == StmtKind::store ? copy_.dims.names(stmt.address.offset, variable) : is_straight({stmt});
  });
}

void StraightLineWriter::write_copies(const Stmt& stmt, int64_t count, const std::function<void(int64_t)>& after_element) {
  int symbol = *copy_.dims.as_symbol(stmt.var);
  int64_t copies = std::max<int64_t>(count, 1);
  emission_.copies *= copies;
  for (int64_t k = 0; k < count; ++k) {
    names_.fix(symbol, copy_.dims.constant(k));
    code_.open("");
    write(stmt.body);
    after_element(k);
    code_.close();
  }
  names_.unfix(symbol);
  emission_.copies /= copies;
}

}  // namespace accel
