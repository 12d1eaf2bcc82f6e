#include "codegen/emit/reductions/reduction_writer.h"

namespace accel {

void ReductionWriter::element(const Stmt& stmt, const std::string& name, const std::string& type, const std::string& value) {
  std::optional<Period> period;
  if (!emission_.device) period = PeriodWriter(emission_).find(stmt);
  if (period) return element_by_period(stmt, *period, name, type, value);
  int symbol = *copy_.dims.as_symbol(stmt.var);
  names_.enter(symbol, resolve(stmt.extent));
  const char* inlined = emission_.device ? "" : "__attribute__((always_inline)) ";
  code_.open(cat("const auto ", name, " = [&](i64 ", variable(stmt.var), ") ", inlined, "-> ", type));
  write(stmt.body);
  code_.line(cat("return ", value, ";"));
  code_.close("};");
  names_.leave(symbol);
}

void ReductionWriter::element_by_period(const Stmt& stmt, const Period& period, const std::string& name,
                                        const std::string& type, const std::string& value) {
  int number = names_.own_variable(), position = names_.own_variable();
  std::string q = names_.printed(copy_.dims.symbol(number)), r = names_.printed(copy_.dims.symbol(position));
  code_.open(cat("const auto ", name, " = periodic(", dim(period.base), ", ", dim(period.length), ", [&](i64 ", q, ", i64 ", r,
                 ") __attribute__((always_inline)) -> ", type));
  PeriodWriter(emission_).enter(stmt, period, number, position);
  write(stmt.body);
  PeriodWriter(emission_).leave(stmt, number, position);
  code_.line(cat("return ", value, ";"));
  code_.close("});");
}

void ReductionWriter::list(const Stmt& stmt) {
  std::string next = temp_name(stmt.dst);
  code_.line(cat("i64 ", next, ";"));
  code_.open("");
  element(stmt, "counts", type(stmt.args[0]), temp_name(stmt.args[0]));
  code_.line(cat(next, " = list_counted(", address(stmt.address), ", ", temp_name(stmt.args[1]), ", ", temp_name(stmt.args[3]),
                 ", ", temp_name(stmt.args[2]), ", ", dim(stmt.extent), ", counts);"));
  code_.close();
}

std::optional<Stmt> ReductionWriter::over_bools(const Stmt& stmt) {
  if (stmt.op != Op::add || stmt.body.empty() || !is_straight(stmt.body)) return std::nullopt;
  const Stmt& cast = stmt.body.back();
  const DType wide = stmt.kind == StmtKind::fold ? DType::int64 : DType::float64;
  bool widens =
      dtype(stmt.args[0]) == wide && cast.kind == StmtKind::compute && cast.op == Op::astype && cast.dst == stmt.args[0];
  if (!widens || dtype(cast.args[0]) != DType::bool_) return std::nullopt;
  Stmt bools = stmt;
  bools.args[0] = cast.args[0];
  bools.body.pop_back();
  return bools;
}

bool ReductionWriter::may_pass_over(const Stmt& stmt) { return is_straight(stmt.body) && copy_.facts.events(stmt.body) == 0; }

bool ReductionWriter::stops_early(const Stmt& stmt) { return dtype(stmt.args[0]) == DType::bool_ && may_pass_over(stmt); }

}  // namespace accel
