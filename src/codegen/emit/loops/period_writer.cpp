#include "codegen/emit/loops/period_writer.h"

#include <functional>

namespace accel {

// What the loop's variable, or a sum of it and others, is divided by in its addresses, where that is known at run time only.
std::optional<Period> PeriodWriter::find(const Stmt& loop) {
  if (!names_.names_divisions() || !is_straight(loop.body)) return std::nullopt;
  DimTable& dims = copy_.dims;
  std::optional<Period> found;
  std::function<void(Dim)> look = [&](Dim d) {
    if (dims.as_constant(d) || dims.as_symbol(d)) return;
    std::vector<Dim> operands = dims.operands(d);
    for (Dim part : operands) look(part);
    if (!is_division(dims, d) || dims.as_constant(operands[1])) return;
    Dim base = dims.sub(operands[0], loop.var);
    std::vector<int> symbols = dims.symbols(operands[1]);
    if (dims.names(base, *dims.as_symbol(loop.var)) || symbols.back() >= DimTable::first_variable) return;
    if (!found || dims.kind(d) == DimKind::mod) found = Period{base, operands[1]};
  };
  for (const Stmt& stmt : loop.body) {
    bool has_address = stmt.kind == StmtKind::load || stmt.kind == StmtKind::store || stmt.kind == StmtKind::gather;
    if (has_address) look(names_.simplified(stmt.address.offset));
  }
  return found;
}

void PeriodWriter::enter(const Stmt& stmt, const Period& period, int number, int position) {
  DimTable& dims = copy_.dims;
  Dim periods = dims.quotient(resolve(stmt.extent), period.length);
  bool is_whole = dims.is_constant(period.base, 0) && dims.mul(periods, period.length) == resolve(stmt.extent);
  if (is_whole) names_.enter(number, periods);
  names_.enter(position, period.length);
  Dim element = dims.add(dims.mul(dims.symbol(number), period.length), dims.symbol(position));
  names_.fix(*dims.as_symbol(stmt.var), dims.sub(element, period.base));
}

void PeriodWriter::leave(const Stmt& stmt, int number, int position) {
  names_.unfix(*copy_.dims.as_symbol(stmt.var));
  names_.leave(position);
  names_.leave(number);
}

void PeriodWriter::write_loops(const Stmt& stmt, const Period& period, const std::string& first, const std::string& last) {
  DimTable& dims = copy_.dims;
  int number = names_.own_variable(), position = names_.own_variable();
  std::string q = names_.printed(dims.symbol(number)), r = names_.printed(dims.symbol(position)), end = cat("n", r),
              size = cat("p", q);
  std::string from = cat("f", q), to = cat("t", q);
  code_.open(cat("if (", first, " < ", last, ")"));
  code_.line(cat("const i64 ", size, " = ", dim(period.length), ", ", from, " = ", dim(period.base), " + ", first, ", ", to,
                 " = ", dim(period.base), " + ", last, ";"));
  code_.open(cat("for (i64 ", q, " = index_floordiv(", from, ", ", size, "); ", q, " * ", size, " < ", to, "; ++", q, ")"));
  if (emission_.in_vectors) code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", r, " = index_max(", from, " - ", q, " * ", size, ", 0), ", end, " = index_min(", to, " - ", q,
                 " * ", size, ", ", size, "); ", r, " < ", end, "; ++", r, ")"));
  enter(stmt, period, number, position);
  write(stmt.body);
  leave(stmt, number, position);
  code_.close();
  code_.close();
  code_.close();
}

}  // namespace accel
