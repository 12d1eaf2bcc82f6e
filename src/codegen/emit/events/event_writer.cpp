#include "codegen/emit/events/event_writer.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/events/event_sites.h"
#include "codegen/emit/events/piece_writer.h"
#include "codegen/emit/loops/loop_writer.h"
#include "codegen/emit/loops/straight_line_writer.h"
#include "codegen/emit/statements/statement_writer.h"

namespace accel {

namespace {

// From so many values on that wait in memory a tile has fewer elements.
constexpr size_t many_values = 24;
constexpr int few_elements_of_tile = 64;

bool is_loop(StmtKind kind) { return kind == StmtKind::loop || kind == StmtKind::tile || kind == StmtKind::repeat; }

}  // namespace

std::string EventWriter::record_text(int site, const std::string& events) const {
  return cat("record(frame, ", emission_.in_rows ? "row" : "frame->launch->events", ", ", site, ", ", events, ")");
}

// With several sites: an event that only one of them may have is recorded for it. An event that several may have is not
// attributed: a run to which it matters is reported as unclear.
void EventWriter::in_one_unit(const Body& body, const std::map<int, int>& sites, const std::function<void()>& text) {
  bool outside = std::exchange(emission_.in_unit, true);
  std::string suffix = EventSites(emission_).flags_suffix(body), read = cat("fp_read", suffix, " & ");
  code_.line(cat("fp_clear", suffix, ";"));
  text();
  emission_.in_unit = outside;
  int shared = 0, all = 0;
  for (const auto& [site, events] : sites) shared |= all & events, all |= events;
  if (sites.size() == 1) {
    std::string noted = record_text(sites.begin()->first, cat(read, all));
    return code_.line(emission_.in_rows ? cat("flagged |= ", noted, " != 0;") : noted + ";");
  }
  code_.open(cat("if (const int events = ", read, all, "; events != 0)"));
  if (emission_.in_rows) code_.line("flagged = true;");
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

// Whether a statement has no events and leaves no flags, or what is inside it records its own events.
bool EventWriter::needs_no_unit(const Stmt& stmt, const std::map<int, int>& sites) {
  EventSites event_sites(emission_);
  const bool strays = event_sites.has_stray_flags({stmt});
  if (event_sites.repeat_in(stmt.body) != nullptr || (sites.empty() && !strays)) return true;
  if (is_loop(stmt.kind) && (sites.empty() || strays || sites.size() > 1)) return true;
  return stmt.kind == StmtKind::loop && StraightLineWriter(emission_).extent(stmt);
}

void EventWriter::statement(const Body& body, size_t position) {
  const Stmt& stmt = body[position];
  std::map<int, int> sites = EventSites(emission_).sites_of({stmt});
  if (needs_no_unit(stmt, sites)) return StatementWriter(emission_).write_plain(body, position);
  auto write_pinned = [&] {
    bool outside = std::exchange(emission_.is_pinned, stmt.kind == StmtKind::compute);
    StatementWriter(emission_).write_plain(body, position);
    emission_.is_pinned = outside;
    if (stmt.dst >= 0 && !is_loop(stmt.kind)) code_.line(cat("finish(", temp_name(stmt.dst), ");"));
  };
  sites.empty() ? write_pinned() : in_one_unit({stmt}, sites, write_pinned);
}

void EventWriter::loop(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::map<int, int> sites = EventSites(emission_).sites_of(stmt.body);
  if (EventSites(emission_).repeat_in(stmt.body) != nullptr) return LoopWriter(emission_).plain_loop(stmt, first, last);
  if (sites.size() == 1 && !EventSites(emission_).has_stray_flags(stmt.body))
    return in_one_unit(stmt.body, sites, [&] { LoopWriter(emission_).fast_loop(stmt, first, last); });
  has_pieces(stmt) ? loop_by_pieces(stmt, first, last) : LoopWriter(emission_).plain_loop(stmt, first, last);
}

// Whether the iterations of a loop are independent, and each of its statements has the events of one site.
bool EventWriter::has_pieces(const Stmt& stmt) {
  if (stmt.loop_kind == LoopKind::serial) return false;
  return std::all_of(stmt.body.begin(), stmt.body.end(), [&](const Stmt& each) {
    bool plain = is_number(each.kind) || each.kind == StmtKind::store || each.kind == StmtKind::gather;
    bool reduces = each.dst >= 0 && !each.body.empty() && !is_loop(each.kind) && is_straight({each});
    return (plain || reduces) && EventSites(emission_).sites_of({each}).size() <= 1;
  });
}

void EventWriter::loop_by_pieces(const Stmt& stmt, const std::string& first, const std::string& last) {
  std::map<int, int> sites = EventSites(emission_).sites_of(stmt.body);
  std::string var = variable(stmt.var), from = cat("from_", var), to = cat("to_", var), open;
  std::string row = emission_.in_rows ? "row" : "frame->launch->events";
  int all = 0;
  for (const auto& [site, events] : sites) {
    open += cat(open.empty() ? "" : " | ", cat("open_events(frame, ", row, ", ", site, ", ", events, ")"));
    all |= events;
  }
  bool outside = std::exchange(emission_.in_unit, true),
       once = emission_.in_rows || loads_what_it_stores(copy_.program, stmt.body);
  long step =
      temps_from_outside(stmt.body).size() + stmt.body.size() > 2 * many_values ? few_elements_of_tile : most_elements_of_tile;
  code_.open("");
  if (!emission_.in_rows) code_.line("[[maybe_unused]] bool flagged = false;");
  code_.open(cat("for (i64 ", from, " = ", first, ", last = ", last, "; ", from, " < last; ", from, " += ", step, ")"));
  code_.line(cat("const i64 ", to, " = index_min(", from, " + ", step, ", last);"));
  code_.line(cat("const int open = ", open, ";"));
  code_.open(once ? "if (open == 0)" : "if (open == 0 || !flagged)");
  std::string suffix = EventSites(emission_).flags_suffix(stmt.body);
  if (!once || emission_.in_rows) code_.line(cat("fp_clear", suffix, ";"));
  LoopWriter(emission_).fast_loop(stmt, from, to);
  if (emission_.in_rows) code_.line(cat("flagged |= (fp_read", suffix, " & ", all, ") != 0;"));
  code_.line(once ? "continue;" : cat("if ((fp_read", suffix, " & open) == 0) continue;"));
  code_.close();
  code_.line("int seen = 0;");
  PieceWriter(emission_, stmt, from, to).write_pieces();
  code_.line(cat("flagged ", emission_.in_rows ? "|" : "", "= seen != 0;"));
  code_.close();
  code_.close();
  emission_.in_unit = outside;
}

// --- loops that run tile by tile --------------------------------------------------------------------------------------

void EventWriter::loop_over_tiles(const Stmt& stmt, const std::string& first, const std::string& last) {
  code_.open("");
  code_.line("bool flagged = false;");  // whether the previous tile had events
  LoopWriter(emission_).plain_loop(stmt, first, last);
  code_.close();
}

// Runs all iterations of a tile and reads the flags once. Where they show events that are not noted yet, runs the tile again
// from the start and records the events of each iteration.
void EventWriter::tile(const Body& body) {
  auto repeat = std::find_if(body.begin(), body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::repeat; });
  Body before(body.begin(), repeat), after(repeat + 1, body.end());
  if (!EventSites(emission_).sites_of(before).empty() || !EventSites(emission_).sites_of(after).empty())
    fail_with("events beside a loop that runs tile by tile");
  std::string open;
  for (const auto& [site, events] : EventSites(emission_).sites_of(repeat->body))
    open += cat(open.empty() ? "" : " | ", "open_in_rows(frame, ", dim(repeat->extent), ", ", site, ", ", events, ")");
  code_.line(cat("const int open = ", open, ";"));
  code_.open("if (!flagged || open == 0)");
  bool outside = std::exchange(emission_.in_unit, true);
  code_.line("fp_clear();");
  write(before);
  LoopWriter(emission_).repeat(*repeat);
  emission_.in_unit = outside;
  code_.line("flagged = (fp_read() & open) != 0;");
  code_.close();
  code_.open("if (flagged)");
  write(before);
  recorded_repeat(*repeat);
  code_.close();
  write(after);
}

// Stops at the first iteration that changes nothing and has no events: all later ones would be equal to it.
void EventWriter::recorded_repeat(const Stmt& stmt) {
  std::string var = variable(stmt.var), end = cat("n", var);
  code_.line("bool any_flagged = false;");
  code_.open(cat("for (i64 ", var, " = 0, ", end, " = ", dim(stmt.extent), "; ", var, " < ", end, "; ++", var, ")"));
  code_.line(cat("unsigned char* const row = event_row(frame, ", var, ");"));
  code_.line("flagged = false;");
  emission_.in_rows = true;
  write(stmt.body);
  emission_.in_rows = false;
  code_.line("any_flagged |= flagged;");
  if (!stmt.args.empty()) code_.line(cat("if (", temp_name(stmt.args[0]), " == 0 && !flagged) break;"));
  if (!stmt.quiet) code_.line(break_if_interrupted(var));
  code_.close();
  code_.line("flagged = any_flagged;");
}

}  // namespace accel
