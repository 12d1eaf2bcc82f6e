#include "codegen/emit/loops/interleaved_loop_writer.h"

#include <algorithm>

#include "codegen/analysis/loops/interleaved_loop.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

constexpr int vector_bytes = 32;

}  // namespace

std::optional<DType> InterleavedLoopWriter::dtype_of(const Stmt& loop) {
  if (!emission_.in_vectors || emission_.is_pinned || emission_.in_lanes || !emission_.strip_address.empty())
    return std::nullopt;
  const int variable = *copy_.dims.as_symbol(loop.var);
  bool plain = std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::load || stmt.kind == StmtKind::store)
      return !copy_.dims.names(step_over(copy_.dims, stmt.address.offset, loop.var), variable);
    return stmt.kind != StmtKind::compute || (!copy_.facts.must_preserve(stmt.dst) && !copy_.facts.is_of_constants(stmt.dst));
  });
  return plain ? interleaved_dtype(copy_.program, loop) : std::nullopt;
}

// Where the elements of a number that is loaded or stored are: the arguments of the functions that load and store vectors.
std::string InterleavedLoopWriter::elements(const Stmt& stmt, TempId number, const Stmt& loop) {
  bool side_by_side = names_.stride_over(stmt.address.offset, loop.var) == item_size(dtype(number));
  return address(stmt.address) + (side_by_side ? "" : cat(", ", dim(step_over(copy_.dims, stmt.address.offset, loop.var))));
}

void InterleavedLoopWriter::write_loop(const Stmt& stmt, DType dtype, const std::string& first, const std::string& last) {
  std::string var = variable(stmt.var), whole = cat("whole_", var);
  int count = vector_bytes / item_size(dtype);
  code_.open("");
  code_.line(cat("const i64 ", whole, " = ", first, " + (", last, " - ", first, ") / ", count, " * ", count, ";"));
  code_.open(cat("for (i64 ", var, " = ", first, "; ", var, " < ", whole, "; ", var, " += ", count, ")"));
  for (const Stmt& each : stmt.body) write_statement(each, stmt);
  code_.close();
  code_.open(cat("for (i64 ", var, " = ", whole, "; ", var, " < ", last, "; ++", var, ")"));
  code_.line("asm volatile(\"\");");  // a loop of few iterations, of which g++ makes no vectors
  write(stmt.body);
  code_.close();
  code_.close();
}

void InterleavedLoopWriter::write_statement(const Stmt& stmt, const Stmt& loop) {
  auto name = [&](TempId temp) {
    bool is_vector = std::any_of(loop.body.begin(), loop.body.end(), [&](const Stmt& each) { return each.dst == temp; });
    return is_vector ? temp_name(temp) : cat("all_of(", temp_name(temp), ")");
  };
  auto define = [&](const std::string& value) {
    code_.line(cat("[[maybe_unused]] const ", type(stmt.dst), "s ", temp_name(stmt.dst), " = ", value, ";"));
  };
  switch (stmt.kind) {
    case StmtKind::constant:
      return define(cat("all_of(", cpp_literal(stmt.literal), ")"));
    case StmtKind::load:
      return define(cat("load_", type(stmt.dst), "s(", elements(stmt, stmt.dst, loop), ")"));
    case StmtKind::store:
      return code_.line(
          cat("store_", type(stmt.args[0]), "s(", elements(stmt, stmt.args[0], loop), ", ", name(stmt.args[0]), ");"));
    default:
      break;
  }
  if (stmt.op == Op::astype) return define(cat("widened(", name(stmt.args[0]), ")"));
  std::vector<std::string> operands;
  for (TempId arg : stmt.args) operands.push_back(name(arg));
  define(cpp_op(stmt.op, operands, dtype(stmt.dst)));
}

}  // namespace accel
