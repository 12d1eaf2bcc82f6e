#include "codegen/emit/reductions/argreduce_writer.h"

#include "codegen/emit/loops/straight_line_writer.h"

namespace accel {

std::string Extremes::type() const { return cat(roots ? "Root" : "", "Extreme<", order, ">"); }

// The statement over the squares, when its elements are square roots.
std::optional<Stmt> ArgreduceWriter::over_squares(const Stmt& stmt) const {
  if (!is_of_roots(copy_.program, stmt)) return std::nullopt;
  Stmt squares = stmt;
  squares.args[0] = stmt.body.back().args[0];
  squares.body.pop_back();
  return squares;
}

Extremes ArgreduceWriter::write_beats(const Stmt& given) {
  std::optional<Stmt> squares = over_squares(given);
  Extremes out = {squares ? *squares : given, squares.has_value(), type(given.args[0])};
  std::string t = out.order;
  if (out.roots) {
    out.order += given.op == Op::argmin ? ", true" : ", false";
    code_.line(cat("const RootOrder<", out.order, "> beats;"));
  } else {
    code_.line(cat("const ", op_info(given.op).name, "_order<", t, "> beats;"));
  }
  return out;
}

std::string ArgreduceWriter::extreme(const Stmt& stmt, const std::string& begin, const std::string& end) {
  std::string how = cat(is_straight(stmt.body) ? "argreduce<" : "argreduce_serial<", type(stmt.args[0]), ">");
  if (is_straight(stmt.body) && dtype(stmt.args[0]) == DType::bool_)
    how = cat("argreduce_bools<", may_pass_over(stmt) ? "true>" : "false>");
  return cat(how, "(", begin, ", ", end, ", source, beats)");
}

void ArgreduceWriter::argreduce(const Stmt& given) {
  std::string where = temp_name(given.dst);
  code_.line(cat(type(given.dst), " ", where, " = 0;"));
  code_.open("");
  Extremes extremes = write_beats(given);
  const Stmt& stmt = extremes.stmt;
  std::string value = temp_name(stmt.args[0]);
  if (auto count = StraightLineWriter(emission_).extent(stmt)) {
    code_.line(cat(extremes.type(), " extreme = {};"));
    StraightLineWriter(emission_).write_copies(stmt, *count, [&](int64_t k) {
      std::string step = cat(value, ", ", k, ", ", k == 0 ? "true" : "false");
      code_.line(emission_.in_lanes ? cat("see_lane(extreme.best, extreme.where, ", step, ", open, beats);")
                                    : cat("extreme.see(", step, ", beats);"));
    });
    code_.line(cat(where, " = extreme.where;"));
  } else {
    element(stmt, "source", type(stmt.args[0]), value);
    code_.line(cat(where, " = ", extreme(stmt, "0", dim(stmt.extent)), ".where;"));
  }
  code_.close();
}

}  // namespace accel
