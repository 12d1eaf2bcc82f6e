#include "codegen/emit/reductions/fold_writer.h"

#include "codegen/emit/expressions.h"
#include "codegen/emit/loops/straight_line_writer.h"

namespace accel {

std::string FoldWriter::combined(const Stmt& stmt, const std::string& a, const std::string& b) {
  const auto text_of = emission_.device ? device_op : cpp_op;
  std::string text = text_of(stmt.op, {a, b}, dtype(stmt.dst));
  if (text.empty()) fail_with(cat("op ", op_info(stmt.op).name, " has no C++ text"));
  return text;
}

bool FoldWriter::is_extreme_of_floats(const Stmt& stmt) const {
  return is_extreme(stmt.op) && (dtype(stmt.dst) == DType::float64 || dtype(stmt.dst) == DType::float32);
}

void FoldWriter::write_folded(const Stmt& stmt) {
  if (auto bools = over_bools(stmt)) return element(*bools, "source", type(bools->args[0]), temp_name(bools->args[0]));
  std::string t = type(stmt.dst);
  element(stmt, "source", t, temp_name(stmt.args[0]));
  code_.line(cat("const auto combine = [](", t, " a, ", t, " b) __attribute__((always_inline)) -> ", t, " { return ",
                 combined(stmt, "a", "b"), "; };"));
}

std::string FoldWriter::folded(const Stmt& stmt, const std::string& first, const std::string& begin, const std::string& end) {
  if (over_bools(stmt)) return cat("add(cast<i64>(", first, "), count_counted(", begin, ", ", end, ", source))");
  std::string how = cat(is_straight(stmt.body) ? "fold<" : "fold_serial<", type(stmt.dst), ">");
  if (stops_early(stmt)) how = "fold_until_settled";
  std::string whole = cat(how, "(", first, ", ", begin, ", ", end, ", source, combine)");
  if (!is_extreme_of_floats(stmt)) return whole;
  return cat("of_equal_zeros(frame, ", whole, ", ", first, ", ", begin, ", ", end, ", source)");
}

void FoldWriter::fold(const Stmt& stmt) {
  std::string value = temp_name(stmt.args[0]), total = temp_name(stmt.dst);
  code_.line(cat(type(stmt.dst), " ", total, " = ", temp_name(stmt.args[1]), ";"));
  if (auto count = StraightLineWriter(emission_).extent(stmt)) {
    return StraightLineWriter(emission_).write_copies(
        stmt, *count, [&](int64_t) { code_.line(cat(total, " = ", combined(stmt, total, value), ";")); });
  }
  code_.open("");
  write_folded(stmt);
  code_.line(cat(total, " = ", folded(stmt, temp_name(stmt.args[1]), "0", dim(stmt.extent)), ";"));
  code_.close();
}

}  // namespace accel
