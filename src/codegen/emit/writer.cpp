#include "codegen/emit/writer.h"

#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

void Writer::write(const Body& body) { StatementWriter(emission_).write_all(body); }

void Writer::write(const Stmt& stmt) { StatementWriter(emission_).write_one(stmt); }

bool Writer::is_straight(const Body& body) { return StraightLineWriter(emission_).is_straight(body); }

void Writer::define(const Stmt& stmt, const std::string& value) {
  std::string declaration = emission_.declared.contains(stmt.dst) ? "" : cat("[[maybe_unused]] const ", type(stmt.dst), " ");
  code_.line(cat(declaration, temp_name(stmt.dst), " = ", value, ";"));
  preserve_events(stmt);
}

void Writer::preserve_events(const Stmt& stmt) {
  if (!copy_.facts.must_preserve(stmt.dst)) return;
  emission_.has_sink = true;
  code_.line(cat("do_not_optimize(sink, ", temp_name(stmt.dst), ");"));
}

}  // namespace accel
