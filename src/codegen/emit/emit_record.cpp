// C++ text that records which operation had which floating-point event. Statements whose events belong to one site are a unit:
// the flags of the floating-point unit are cleared before the unit and read after it. A loop over elements with several sites
// runs tile by tile: first with all operations fused; if that sets flags that have not been recorded for each of these sites,
// the tile is run again one operation after the other, through memory for a tile.

#include <algorithm>

#include "codegen/emit/expressions.h"
#include "codegen/emit/kernel_function.h"
#include "ir/analysis/stray_flags.h"

namespace accel {

namespace {

// Elements of a tile.
constexpr int most_elements_of_tile = 256, few_elements_of_tile = 64;
// From so many values on that wait in memory a tile has fewer elements.
constexpr size_t many_values = 24;

bool is_loop(StmtKind kind) { return kind == StmtKind::loop || kind == StmtKind::tile || kind == StmtKind::repeat; }

// Whether the value can be had again wherever it is needed.
bool is_repeatable(const Stmt& stmt) {
  return stmt.kind == StmtKind::constant || stmt.kind == StmtKind::index || stmt.kind == StmtKind::input;
}

// Whether it puts a complex number together or takes it apart.
bool is_part(const Stmt& stmt) {
  return stmt.kind == StmtKind::compute && (stmt.op == Op::compose || stmt.op == Op::real || stmt.op == Op::imag);
}

// Consecutive statements of a loop that are done for a whole tile before the next ones. With events: one statement.
struct Piece {
  std::vector<const Stmt*> statements;
  std::map<int, int> sites;
};

// The pieces of a loop's body, and how values come from one to another.
class Pieces {
 public:
  Pieces(const Program& program, const Body& body) : program_(program) {
    for (const Stmt& stmt : body)
      if (stmt.dst >= 0) definitions_[stmt.dst] = &stmt;
  }

  void add(const Stmt& stmt, std::map<int, int> sites) {
    if (is_repeatable(stmt)) return;
    bool joins = sites.empty() && !pieces.empty() && pieces.back().sites.empty();
    if (!joins) pieces.push_back({{}, std::move(sites)});
    pieces.back().statements.push_back(&stmt);
    if (stmt.dst >= 0) home_[stmt.dst] = pieces.size() - 1;
    if (is_store(stmt.kind)) stored_.try_emplace(program_.memory_of(stmt.address.buffer), pieces.size() - 1);
  }

  // What a piece needs from before it: statements that are done again, in order, and values that wait in memory.
  struct Needs {
    std::vector<const Stmt*> again;
    std::set<TempId> waiting;
  };
  Needs needs_of(size_t piece) const {
    Needs out;
    std::set<TempId> seen;
    for (const Stmt* stmt : pieces[piece].statements) need_all(*stmt, piece, seen, out);
    return out;
  }

  bool is_inside(TempId temp) const { return definitions_.contains(temp); }
  std::vector<Piece> pieces;

 private:
  // Whether the value can be had again in a piece: nothing is stored over it before that, and it costs nothing.
  bool comes_again(const Stmt& stmt, size_t piece) const {
    if (is_part(stmt))
      return std::all_of(stmt.args.begin(), stmt.args.end(), [&](TempId arg) {
        auto found = definitions_.find(arg);
        return found == definitions_.end() || comes_again(*found->second, piece);
      });
    if (stmt.kind != StmtKind::load) return is_repeatable(stmt);
    auto stored = stored_.find(program_.memory_of(stmt.address.buffer));
    return stored == stored_.end() || stored->second >= piece;
  }
  void need_all(const Stmt& stmt, size_t piece, std::set<TempId>& seen, Needs& out) const {
    for (TempId arg : stmt.args) need(arg, piece, seen, out);
    for (const Stmt& inner : stmt.body) need_all(inner, piece, seen, out);
  }
  void need(TempId temp, size_t piece, std::set<TempId>& seen, Needs& out) const {
    auto found = definitions_.find(temp);
    if (found == definitions_.end() || !seen.insert(temp).second) return;
    auto home = home_.find(temp);
    if (home != home_.end() && home->second == piece) return;
    if (!comes_again(*found->second, piece)) {
      out.waiting.insert(temp);
      return;
    }
    for (TempId arg : found->second->args) need(arg, piece, seen, out);
    out.again.push_back(found->second);
  }

  const Program& program_;
  std::map<TempId, const Stmt*> definitions_;
  std::map<TempId, size_t> home_;      // piece
  std::map<BufferId, size_t> stored_;  // first piece that does
};

}  // namespace

// The events of a body by site.
std::map<int, int> KernelFunction::sites_of(const Body& body) {
  std::map<int, int> out;
  for (const Stmt& stmt : body) {
    int own = copy_.program.own_events(stmt) & ~event_error;
    if (own != 0) {
      if (stmt.where.site < 0) fail_with("an operation with events and no site");
      out[stmt.where.site] |= own;
    }
    for (const auto& [site, events] : sites_of(stmt.body)) out[site] |= events;
  }
  return out;
}

// Whether a statement raises flags that are no events: what gives numbers of Python's is quiet.
bool KernelFunction::has_stray_flags(const Body& body) const {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    const bool computes = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold;
    return (computes && accel::has_stray_flags(stmt.op, dtype(stmt.args[0]), stmt.quiet)) || has_stray_flags(stmt.body);
  });
}

namespace {

// Whether the C++ compiler makes instructions of the operation, and no call of a function.
bool is_arithmetic(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::square:
    case Op::sqrt:
    case Op::reciprocal:
    case Op::fused_multiply:
    case Op::astype:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Suffix of the names of the functions that clear the flags before these statements and read them afterwards.
std::string KernelFunction::flags_suffix(const Body& body) {
  std::function<bool(const Body&)> plain = [&](const Body& inner) {
    return std::all_of(inner.begin(), inner.end(), [&](const Stmt& stmt) {
      bool calls = !stmt.operands.empty() || (copy_.program.own_events(stmt) != 0 && !is_arithmetic(stmt.op)) ||
                   (stmt.dst >= 0 && dtype(stmt.dst) == DType::float16);
      return !calls && plain(stmt.body);
    });
  };
  return plain(body) && !has_stray_flags(body) ? "_arithmetic()" : "()";
}

std::string KernelFunction::record_text(int site, const std::string& events) const {
  return cat("record(frame, ", in_rows_ ? "row" : "frame->launch->events", ", ", site, ", ", events, ")");
}

// Several sites: what only one of them may have is its own, of the rest nothing can be said.
void KernelFunction::in_one_unit(const Body& body, const std::map<int, int>& sites, const std::function<void()>& text) {
  bool outside = std::exchange(in_unit_, true);
  std::string suffix = flags_suffix(body), read = cat("fp_read", suffix, " & ");
  code_.line(cat("fp_clear", suffix, ";"));
  text();
  in_unit_ = outside;
  int shared = 0, all = 0;
  for (const auto& [site, events] : sites) shared |= all & events, all |= events;
  if (sites.size() == 1) {
    std::string noted = record_text(sites.begin()->first, cat(read, all));
    return code_.line(in_rows_ ? cat("flagged |= ", noted, " != 0;") : noted + ";");
  }
  code_.open(cat("if (const int events = ", read, all, "; events != 0)"));
  if (in_rows_) code_.line("flagged = true;");
  for (const auto& [site, events] : sites)
    if ((events & ~shared) != 0) code_.line(record_text(site, cat("events & ", events & ~shared)) + ";");
  if (shared != 0) {
    std::string heard;
    for (const auto& [site, events] : sites)
      heard += cat(heard.empty() ? "" : " | ", "(", events & shared, " & frame->launch->heard[", site, "])");
    code_.line(cat("if ((events & (", heard, ")) != 0) report(frame, accel_unclear);"));
  }
  code_.close();
}

void KernelFunction::recorded(const Body& body, size_t place) {
  const Stmt& stmt = body[place];
  std::map<int, int> sites = sites_of({stmt});
  if (repeat_in(stmt.body) != nullptr) return write_plain(body, place);
  bool strays = has_stray_flags({stmt});
  if (is_loop(stmt.kind) && (sites.empty() || strays || sites.size() > 1)) return write_plain(body, place);
  if (sites.empty() && !strays) return write_plain(body, place);
  if (stmt.kind == StmtKind::loop && straight_extent(stmt, 8)) return write_plain(body, place);
  auto write_pinned = [&] {
    bool outside = std::exchange(is_pinned_, stmt.kind == StmtKind::compute);
    write_plain(body, place);
    is_pinned_ = outside;
    if (stmt.dst >= 0 && !is_loop(stmt.kind)) code_.line(cat("finish(", temp_name(stmt.dst), ");"));
  };
  sites.empty() ? write_pinned() : in_one_unit({stmt}, sites, write_pinned);
}

void KernelFunction::recorded_loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::map<int, int> sites = sites_of(stmt.body);
  if (repeat_in(stmt.body) != nullptr) return plain_loop(stmt, first, last);
  if (sites.size() == 1 && !has_stray_flags(stmt.body))
    return in_one_unit(stmt.body, sites, [&] { fast_loop(stmt, first, last); });
  has_pieces(stmt) ? loop_by_pieces(stmt, first, last) : plain_loop(stmt, first, last);
}

// Whether the iterations of a loop are independent, and each of its statements has the events of one site.
bool KernelFunction::has_pieces(const Stmt& stmt) {
  if (stmt.loop_kind == LoopKind::serial) return false;
  return std::all_of(stmt.body.begin(), stmt.body.end(), [&](const Stmt& each) {
    bool plain = is_number(each.kind) || each.kind == StmtKind::store || each.kind == StmtKind::gather;
    bool reduces = each.dst >= 0 && !each.body.empty() && !is_loop(each.kind) && is_straight({each});
    return (plain || reduces) && sites_of({each}).size() <= 1;
  });
}

void KernelFunction::loop_by_pieces(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::map<int, int> sites = sites_of(stmt.body);
  std::string var = variable(stmt.var), from = cat("from_", var), to = cat("to_", var), open;
  std::string row = in_rows_ ? "row" : "frame->launch->events";
  int all = 0;
  for (const auto& [site, events] : sites) {
    open += cat(open.empty() ? "" : " | ", cat("open_events(frame, ", row, ", ", site, ", ", events, ")"));
    all |= events;
  }
  bool outside = std::exchange(in_unit_, true), once = in_rows_ || loads_what_it_stores(copy_.program, stmt.body);
  long step =
      temps_from_outside(stmt.body).size() + stmt.body.size() > 2 * many_values ? few_elements_of_tile : most_elements_of_tile;
  code_.open("");
  if (!in_rows_) code_.line("[[maybe_unused]] bool flagged = false;");
  code_.open(cat("for (i64 ", from, " = ", first, ", last = ", last, "; ", from, " < last; ", from, " += ", step, ")"));
  code_.line(cat("const i64 ", to, " = index_min(", from, " + ", step, ", last);"));
  code_.line(cat("const int open = ", open, ";"));
  code_.open(once ? "if (open == 0)" : "if (open == 0 || !flagged)");
  std::string suffix = flags_suffix(stmt.body);
  if (!once || in_rows_) code_.line(cat("fp_clear", suffix, ";"));
  fast_loop(stmt, from, to);
  if (in_rows_) code_.line(cat("flagged |= (fp_read", suffix, " & ", all, ") != 0;"));
  code_.line(once ? "continue;" : cat("if ((fp_read", suffix, " & open) == 0) continue;"));
  code_.close();
  code_.line("int seen = 0;");
  write_pieces(stmt, from, to);
  code_.line(cat("flagged ", in_rows_ ? "|" : "", "= seen != 0;"));
  code_.close();
  code_.close();
  in_unit_ = outside;
}

// --- loops that run tile by tile --------------------------------------------------------------------------------------------

bool KernelFunction::has_events(const Stmt& repeat) {
  return repeat.kind == StmtKind::repeat && !sites_of(repeat.body).empty();
}
// Whether one of the statements is such a loop, with events.
bool KernelFunction::has_repeat(const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) { return has_events(stmt); });
}
// The first one at any depth; null: there is none.
const Stmt* KernelFunction::repeat_in(const Body& body) {
  for (const Stmt& stmt : body) {
    const Stmt* found = has_events(stmt) ? &stmt : repeat_in(stmt.body);
    if (found != nullptr) return found;
  }
  return nullptr;
}

void KernelFunction::loop_over_tiles(const Stmt& stmt, const std::string& first, const std::string& last) {
  code_.open("");
  code_.line("bool flagged = false;");  // whether the tile before had events
  plain_loop(stmt, first, last);
  code_.close();
}

// All iterations of a tile, operations together; where that leaves flags of which something is still to be said, once more
// from the start, with the events of each iteration.
void KernelFunction::recorded_tile(const Body& body) {
  auto repeat = std::find_if(body.begin(), body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::repeat; });
  Body before(body.begin(), repeat), after(repeat + 1, body.end());
  if (!sites_of(before).empty() || !sites_of(after).empty()) fail_with("events beside a loop that runs tile by tile");
  std::string open;
  for (const auto& [site, events] : sites_of(repeat->body))
    open += cat(open.empty() ? "" : " | ", "open_in_rows(frame, ", dim(repeat->extent), ", ", site, ", ", events, ")");
  code_.line(cat("const int open = ", open, ";"));
  code_.open("if (!flagged || open == 0)");
  bool outside = std::exchange(in_unit_, true);
  code_.line("fp_clear();");
  write(before);
  this->repeat(*repeat);
  in_unit_ = outside;
  code_.line("flagged = (fp_read() & open) != 0;");
  code_.close();
  code_.open("if (flagged)");
  write(before);
  recorded_repeat(*repeat);
  code_.close();
  write(after);
}

// Iterations that change nothing any more have the events of the last one.
void KernelFunction::recorded_repeat(const Stmt& stmt) {
  std::string var = variable(stmt.var), end = cat("n", var);
  code_.line("bool any_flagged = false;");
  code_.open(cat("for (i64 ", var, " = 0, ", end, " = ", dim(stmt.extent), "; ", var, " < ", end, "; ++", var, ")"));
  code_.line(cat("unsigned char* const row = event_row(frame, ", var, ");"));
  code_.line("flagged = false;");
  in_rows_ = true;
  write(stmt.body);
  in_rows_ = false;
  code_.line("any_flagged |= flagged;");
  if (!stmt.args.empty()) code_.line(cat("if (", temp_name(stmt.args[0]), " == 0 && !flagged) break;"));
  if (!stmt.quiet) code_.line(break_if_interrupted(var));
  code_.close();
  code_.line("flagged = any_flagged;");
}

void KernelFunction::write_pieces(const Stmt& stmt, const std::string& first, const std::string& last) {
  Pieces all(copy_.program, stmt.body);
  for (const Stmt& each : stmt.body) all.add(each, sites_of({each}));
  std::set<TempId> waiting;
  for (size_t k = 0; k < all.pieces.size(); ++k) waiting.merge(all.needs_of(k).waiting);
  for (const Piece& piece : all.pieces)
    if (!piece.sites.empty()) waiting.insert(piece.statements[0]->dst);
  code_.open("");
  for (TempId temp : waiting) {
    // The parts of complex numbers lie apart, so that loops over them become vectors.
    std::string real = has_parts(temp) ? dtype_info(part_dtype(dtype(temp))).emitted : type(temp);
    code_.line(
        cat(real, " w", temp, "[", has_parts(temp) ? "2][" : "", most_elements_of_tile, "] __attribute__((aligned(64)));"));
    code_.line(cat("show_memory(w", temp, ");"));
  }
  // Numbers from outside: the compiler must not take what it has computed with them for what is computed here.
  std::vector<TempId> outer = temps_from_outside(stmt.body);
  for (TempId temp : outer) code_.line(cat("const ", type(temp), " o", temp, " = opaque(", temp_name(temp), ");"));
  code_.open("");
  for (TempId temp : outer) code_.line(cat("[[maybe_unused]] const ", type(temp), " ", temp_name(temp), " = o", temp, ";"));
  std::string var = variable(stmt.var);
  std::string suffix = flags_suffix(stmt.body);
  code_.line(cat("fp_clear", suffix, ";"));
  bool outside = std::exchange(in_vectors_, true);
  for (size_t k = 0; k < all.pieces.size(); ++k) {
    const Piece& piece = all.pieces[k];
    Pieces::Needs needs = all.needs_of(k);
    code_.line("#pragma GCC ivdep");
    code_.open(cat("for (i64 ", var, " = ", first, "; ", var, " < ", last, "; ++", var, ")"));
    std::string at = cat("[", var, " - ", first, "]");
    for (TempId temp : needs.waiting) {
      std::string from = cat("w", temp),
                  value = has_parts(temp) ? cat("{", from, "[0]", at, ", ", from, "[1]", at, "}") : from + at;
      code_.line(cat("const ", type(temp), " ", temp_name(temp), " = ", value, ";"));
    }
    for (const Stmt* again : needs.again) write(*again);
    for (const Stmt* each : piece.statements) {
      write(*each);
      if (each->dst < 0 || !waiting.contains(each->dst)) continue;
      std::string to = cat("w", each->dst), value = temp_name(each->dst);
      if (has_parts(each->dst))
        code_.line(cat(to, "[0]", at, " = ", value, ".re, ", to, "[1]", at, " = ", value, ".im;"));
      else
        code_.line(cat(to, at, " = ", value, ";"));
    }
    code_.close();
    Body body;
    for (const Stmt* each : piece.statements) body.push_back(*each);
    bool computes = std::any_of(body.begin(), body.end(), [&](const Stmt& each) {
      return each.kind == StmtKind::compute && is_inexact(dtype(each.args[0])) && !is_part(each);
    });
    if (piece.sites.empty() && computes) code_.line(cat("fp_clear", suffix, ";"));
    if (piece.sites.empty()) continue;
    const auto& [site, events] = *piece.sites.begin();
    code_.open(cat("if (const int events = fp_read", suffix, "; events != 0)"));
    code_.line(cat("seen |= ", record_text(site, cat("events & ", events)), ";"));
    code_.line(cat("fp_clear", suffix, ";"));
    code_.close();
  }
  in_vectors_ = outside;
  code_.close();
  code_.close();
}

}  // namespace accel
