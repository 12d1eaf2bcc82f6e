#include "codegen/emit/control/edge_writer.h"

#include <algorithm>

namespace accel {

// --- strips -----------------------------------------------------------------------------------------------------------

void EdgeWriter::begin_strip(size_t header) {
  const Strip& strip = control_.polls.strips.at(header);
  std::string until = cat("end_of_strip(", temp_name(strip.counter), ", ", strip.length, ")");
  if (strip.fixed_end.id >= 0)
    until = cat(strip.length > 0 ? "index_min(" : "index_max(", cat("(i64)", dim(strip.fixed_end)), ", ", until, ")");
  code_.line(cat("s", static_cast<long>(header), ": strip", static_cast<long>(header), " = ", until, ";"));
}

void EdgeWriter::end_strip(size_t header) {
  const Strip& strip = control_.polls.strips.at(header);
  const std::string counter = temp_name(strip.counter), end = temp_name(strip.end),
                    until = cat("strip", static_cast<long>(header));
  const std::string before = strip.length > 0 ? " < " : " > ";
  const std::string nearer = cat("(", end, before, until, " ? ", end, " : ", until, ")");
  // What is compared with the end is where the strip ends: g++ would carry a comparison of the counter through the loop.
  code_.open(cat("if (", counter, before, strip.fixed_end.id < 0 ? nearer : until, ")"));
  go(header, 0);
  code_.close();
  code_.open(cat("if (", until, before, end, ")"));
  if (!polls_explicitly(program_.blocks[strip.latch])) write_poll(strip.latch, "");
  code_.line(cat("goto s", static_cast<long>(header), ";"));
  code_.close();
  go(header, 1);
}

// --- polls ------------------------------------------------------------------------------------------------------------

std::string EdgeWriter::cost_text(const PollCost& cost) {
  std::string out = std::to_string(cost.fixed);
  for (Dim work : cost.work) out += cat(" + turns_of(", dim(work), ")");
  return out;
}

std::string EdgeWriter::poll_is_due(TempId condition) {
  auto found = control_.polls.explicit_polls.find(condition);
  if (found == control_.polls.explicit_polls.end()) return "false";  // the loop ends soon
  for (const auto& [header, strip] : control_.polls.strips) {
    const ProgramBlock& latch = program_.blocks[strip.latch];
    if (latch.condition != condition) continue;
    const bool up = strip.length > 0;
    const std::string until = cat("strip", static_cast<long>(header));
    const std::string ends = cat(temp_name(strip.counter), " + ", strip.step, up ? " >= " : " <= ", until);
    return strip.fixed_end.id < 0 ? ends : cat(ends, " && ", until, up ? " < " : " > ", "(i64)", dim(strip.fixed_end));
  }
  const PollCost& cost = found->second;
  const std::string spent = cat("(turns -= ", cost_text(cost), ") <= 0");
  return cost.has_loops ? cat("(", spent, " || frame->has_asked)") : spent;
}

// Polls for interruption where the condition is false.
void EdgeWriter::write_poll(size_t from, const std::string& condition) {
  const int exit = control_.loop ? 0 : program_.blocks[from].poll;
  if (exit == 0) return stop_unless(cat(condition, "(turns = turns_before_failure(frame)) > 0"));
  code_.open(cat("if (!(", condition, "(turns = turns_before_exit(frame, 1)) > 0))"));
  code_.line(cat("if (!must_stop(frame, ", events_text(), ")) frame->exit = ", exit, ";"));
  code_.line("goto done;");
  code_.close();
}

void EdgeWriter::poll_at(size_t from, int which) {
  if (auto poll = control_.polls.edges.find({from, which}); poll != control_.polls.edges.end())
    write_poll(from, cat("(turns -= ", cost_text(poll->second), ") > 0 || "));
  else if (control_.polls.optional_edges.contains({from, which}))
    write_poll(from, "--turns > 0 || ");
}

// --- edges ------------------------------------------------------------------------------------------------------------

// The parallel loop that an edge of the whole program enters.
std::optional<size_t> EdgeWriter::loop_entered(size_t from, int target) const {
  for (size_t k = 0; !control_.loop && k < program_.parallel_loops.size(); ++k) {
    const ParallelLoop& loop = program_.parallel_loops[k];
    if (loop.header == target && !std::count(loop.blocks.begin(), loop.blocks.end(), static_cast<int>(from))) return k;
  }
  return std::nullopt;
}

std::string EdgeWriter::label(size_t from, int target) const {
  if (loop_entered(from, target)) return cat("p", target);
  auto strip = control_.polls.strips.find(static_cast<size_t>(target));
  const bool enters = strip != control_.polls.strips.end() && strip->second.latch != from;
  return cat(enters ? "s" : "l", target);
}

void EdgeWriter::go(size_t from, int which) {
  const Edge& edge = program_.blocks[from].edges[which];
  const ParallelLoop* loop = control_.loop;
  if (loop && !std::count(loop->blocks.begin(), loop->blocks.end(), edge.target)) return code_.line("goto left;");
  if (program_.records_events && control_.polls.back_edges.contains({from, which})) code_.line("flush_events(frame);");
  poll_at(from, which);
  for (const auto& [to, other] : edge.swaps) {
    code_.line(cat("exchange(frame, ", to, ", ", other, ");"));
    refresh(to);
    refresh(other);
  }
  pass_scalars(edge);
  code_.line(cat("goto ", label(from, edge.target), ";"));
}

// Parameters get their values all at once: those that are read after they change are saved first.
void EdgeWriter::pass_scalars(const Edge& edge) {
  std::set<TempId> params;
  for (const auto& [param, value] : edge.scalars) params.insert(param);
  bool crossing =
      std::any_of(edge.scalars.begin(), edge.scalars.end(), [&](const auto& p) { return params.contains(p.second); });
  if (crossing) code_.open("");
  for (const auto& [param, value] : edge.scalars)
    if (crossing) code_.line(cat("const ", type(param), " n", param, " = ", temp_name(value), ";"));
  for (const auto& [param, value] : edge.scalars) {
    code_.line(cat(temp_name(param), " = ", crossing ? cat("n", param) : temp_name(value), ";"));
    save(param);
  }
  if (crossing) code_.close();
}

}  // namespace accel
