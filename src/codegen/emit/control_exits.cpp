// Exits of the control flow: what they hand over. Numbers that many exits hand over are written to memory where they are
// computed, and each exit has a table of what it takes from there: that of the exit before it but for a few changes.

#include <algorithm>

#include "codegen/emit/control_function.h"
#include "codegen/emit/expressions.h"

namespace accel {

namespace {

// So many numbers of all exits are handed over by statements of their own.
constexpr size_t most_written_out = 256;
// Words of the tables are 16 bits wide (prelude part "flow"); the last values have a meaning of their own.
constexpr size_t most_homes = 65000;
constexpr int no_home = 65534;
// How many tables before its own an exit is compared with.
constexpr size_t most_compared = 8;

// Temps that save() is called for: steps and edges between blocks give them their values.
std::set<TempId> defined_by_blocks(const Program& program) {
  std::set<TempId> out;
  for (const ProgramBlock& block : program.blocks) {
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body) out.insert(stmt.dst);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) out.insert(param);
  }
  return out;
}

}  // namespace

void ControlFunction::find_homes() {
  size_t count = 0;
  std::map<TempId, int> homes;
  for (const ProgramBlock& block : program_.blocks) {
    if (block.end != BlockEnd::exit) continue;
    for (const ExitOutput& output : block.outputs) {
      if (!is_number(output)) continue;
      count++;
      homes.try_emplace(output.scalar, static_cast<int>(homes.size()));
    }
    if (block.outputs.size() > most_homes) return;
  }
  if (count <= most_written_out || homes.size() > most_homes) return;
  std::set<TempId> defined = defined_by_blocks(program_);
  bool all = std::all_of(homes.begin(), homes.end(), [&](const auto& home) { return defined.contains(home.first); });
  if (all) homes_ = std::move(homes);
}

// To be called where a temp has got a value.
void ControlFunction::save(TempId temp) {
  auto home = homes_.find(temp);
  if (home != homes_.end()) code_.line(cat("put(home[", home->second, "], ", temp_name(temp), ");"));
}

void ControlFunction::exit(const ProgramBlock& block) {
  stop_unless(cat("!must_stop(frame, ", events_text(), ")"));
  bool by_table = false;
  for (const ExitOutput& output : block.outputs) {
    if (is_in_place(output)) {
      hold(output.buffer);
      continue;
    }
    if (is_number(output) && !homes_.empty()) {
      by_table = true;
      continue;
    }
    if (is_number(output)) {
      stop_unless(cat("give_scalar(frame, ", output.output, ", ", temp_name(output.scalar), ")"));
      continue;
    }
    code_.open("");
    code_.line(cat("const i64 dims[] = {", output.shape.empty() ? "0" : "", dims_text(output.shape), "};"));
    std::string source = cat("frame->buffers[", output.buffer, "]"), bytes = std::to_string(item_size(output.dtype));
    for (Dim d : output.shape) bytes += cat("*", dim(d));
    stop_unless(cat("give(frame, ", output.output, ", dims, ", source, ", ", bytes, ")"));
    code_.close();
  }
  if (by_table) give_by_table(block);
  if (std::optional<size_t> from = asked_by(block))
    code_.line(cat("if (goes_on(frame, ", block.exit, ")) goto c", static_cast<long>(*from), ";"));
  if (block.exit > 0) code_.line(cat("frame->exit = ", block.exit, ";"));
  code_.line("goto done;");
}

void ControlFunction::give_by_table(const ProgramBlock& block) {
  const std::vector<ExitOutput>& outputs = block.outputs;
  ExitTable table;
  auto before = [](const ExitOutput& a, const ExitOutput& b) { return a.output < b.output; };
  auto [first, last] = std::minmax_element(outputs.begin(), outputs.end(), before);
  table.first = first->output;
  table.homes.assign(static_cast<size_t>(last->output - first->output + 1), no_home);
  for (const ExitOutput& output : outputs)
    if (is_number(output)) table.homes[static_cast<size_t>(output.output - table.first)] = homes_.at(output.scalar);
  auto changes_from = [&](const ExitTable* parent) {
    std::vector<std::pair<int, int>> changes;
    for (size_t k = 0; k < table.homes.size(); ++k)
      if (parent == nullptr || parent->homes[k] != table.homes[k]) changes.emplace_back(static_cast<int>(k), table.homes[k]);
    return changes;
  };
  table.changes = changes_from(nullptr);
  bool is_rare = block.exit > 0;
  for (size_t k = exit_tables_.size(); is_rare && k-- > 0 && k + most_compared >= exit_tables_.size();) {
    if (exit_tables_[k].homes.size() != table.homes.size()) continue;
    auto changes = changes_from(&exit_tables_[k]);
    if (changes.size() >= table.changes.size()) continue;
    table.changes = std::move(changes);
    table.parent = static_cast<int>(k);
  }
  stop_unless(cat("give_by_table(frame, ", name_, "_exits, ", static_cast<long>(exit_tables_.size()), ", ", name_,
                  "_changes, home, ", name_, "_bytes)"));
  exit_tables_.push_back(std::move(table));
}

void ControlFunction::write_exit_tables(Code& out) const {
  if (exit_tables_.empty()) return;
  std::vector<std::string> exits, changes, bytes(homes_.size());
  for (const ExitTable& table : exit_tables_) {
    long begin = static_cast<long>(changes.size());
    for (const auto& [output, home] : table.changes) {
      changes.push_back(std::to_string(output));
      changes.push_back(std::to_string(home));
    }
    exits.push_back(cat("{", table.parent, ", ", table.first, ", ", static_cast<long>(table.homes.size()), ", ", begin, ", ",
                        static_cast<long>(changes.size()), "}"));
  }
  for (const auto& [temp, home] : homes_) bytes[static_cast<size_t>(home)] = std::to_string(item_size(dtype(temp)));
  out.line(cat("static const ExitTable ", name_, "_exits[] = {", listed(exits), "};"));
  out.line(cat("static const u16 ", name_, "_changes[] = {", listed(changes), "};"));
  out.line(cat("static const u8 ", name_, "_bytes[] = {", listed(bytes), "};"));
}

}  // namespace accel
