#include "codegen/emit/events/piece_writer.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/events/event_sites.h"
#include "codegen/emit/events/event_writer.h"

namespace accel {

PieceWriter::PieceWriter(Emission& emission, const Stmt& loop, std::string first, std::string last)
    : Writer(emission), loop_(loop), first_(std::move(first)), last_(std::move(last)), pieces_(copy_.program, loop.body) {
  for (const Stmt& each : loop_.body) pieces_.add(each, EventSites(emission_).sites_of({each}));
  waiting_ = waiting_values();
  suffix_ = EventSites(emission_).flags_suffix(loop_.body);
}

std::set<TempId> PieceWriter::waiting_values() const {
  std::set<TempId> waiting;
  for (size_t k = 0; k < pieces_.all().size(); ++k) waiting.merge(pieces_.needs_of(k).waiting);
  for (const Piece& piece : pieces_.all())
    if (!piece.sites.empty()) waiting.insert(piece.statements[0]->dst);
  return waiting;
}

void PieceWriter::declare_waiting() {
  for (TempId temp : waiting_) {
    std::string real = has_parts(temp) ? dtype_info(part_dtype(dtype(temp))).emitted : type(temp);
    code_.line(
        cat(real, " w", temp, "[", has_parts(temp) ? "2][" : "", most_elements_of_tile, "] __attribute__((aligned(64)));"));
    code_.line(cat("show_memory(w", temp, ");"));
  }
}

void PieceWriter::write_pieces() {
  code_.open("");
  declare_waiting();
  // Numbers from outside: the compiler must not take what it has computed with them for what is computed here.
  std::vector<TempId> outer = temps_from_outside(loop_.body);
  for (TempId temp : outer) code_.line(cat("const ", type(temp), " o", temp, " = opaque(", temp_name(temp), ");"));
  code_.open("");
  for (TempId temp : outer) code_.line(cat("[[maybe_unused]] const ", type(temp), " ", temp_name(temp), " = o", temp, ";"));
  code_.line(cat("fp_clear", suffix_, ";"));
  bool outside = std::exchange(emission_.in_vectors, true);
  for (size_t k = 0; k < pieces_.all().size(); ++k) {
    write_piece(k);
    record(pieces_.all()[k]);
  }
  emission_.in_vectors = outside;
  code_.close();
  code_.close();
}

// The index of an element in what waits.
std::string PieceWriter::subscript() const { return cat("[", variable(loop_.var), " - ", first_, "]"); }

void PieceWriter::take(TempId temp) {
  std::string from = cat("w", temp), at = subscript();
  std::string value = has_parts(temp) ? cat("{", from, "[0]", at, ", ", from, "[1]", at, "}") : from + at;
  code_.line(cat("const ", type(temp), " ", temp_name(temp), " = ", value, ";"));
}

void PieceWriter::leave(TempId temp) {
  std::string to = cat("w", temp), at = subscript(), value = temp_name(temp);
  if (has_parts(temp))
    code_.line(cat(to, "[0]", at, " = ", value, ".re, ", to, "[1]", at, " = ", value, ".im;"));
  else
    code_.line(cat(to, at, " = ", value, ";"));
}

void PieceWriter::write_piece(size_t number) {
  const Piece& piece = pieces_.all()[number];
  const Pieces::Needs needs = pieces_.needs_of(number);
  std::string var = variable(loop_.var);
  code_.line("#pragma GCC ivdep");
  code_.open(cat("for (i64 ", var, " = ", first_, "; ", var, " < ", last_, "; ++", var, ")"));
  for (TempId temp : needs.waiting) take(temp);
  for (const Stmt* again : needs.again) write(*again);
  for (const Stmt* each : piece.statements) {
    write(*each);
    if (each->dst >= 0 && waiting_.contains(each->dst)) leave(each->dst);
  }
  code_.close();
}

// Records the events of a piece. Operations without events for NumPy may still set flags, so these are cleared.
void PieceWriter::record(const Piece& piece) {
  bool computes = std::any_of(piece.statements.begin(), piece.statements.end(), [&](const Stmt* each) {
    return each->kind == StmtKind::compute && is_inexact(dtype(each->args[0])) && !is_part(*each);
  });
  if (piece.sites.empty() && computes) code_.line(cat("fp_clear", suffix_, ";"));
  if (piece.sites.empty()) return;
  const auto& [site, events] = *piece.sites.begin();
  code_.open(cat("if (const int events = fp_read", suffix_, "; events != 0)"));
  code_.line(cat("seen |= ", EventWriter(emission_).record_text(site, cat("events & ", events)), ";"));
  code_.line(cat("fp_clear", suffix_, ";"));
  code_.close();
}

}  // namespace accel
