#include "codegen/emit/control/exit_writer.h"

#include <algorithm>

#include "codegen/emit/control/memory_writer.h"

namespace accel {

namespace {

// Up to this count, in all exits together, each number of an exit is written by a statement of its own.
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

// What differs between two tables; parent: null for an empty one.
std::vector<std::pair<int, int>> changes_from(const ExitTable* parent, const ExitTable& table) {
  std::vector<std::pair<int, int>> changes;
  for (size_t k = 0; k < table.homes.size(); ++k)
    if (parent == nullptr || parent->homes[k] != table.homes[k]) changes.emplace_back(static_cast<int>(k), table.homes[k]);
  return changes;
}

}  // namespace

std::map<TempId, int> homes_of_exits(const Program& program) {
  size_t count = 0;
  std::map<TempId, int> homes;
  for (const ProgramBlock& block : program.blocks) {
    if (block.end != BlockEnd::exit) continue;
    for (const ExitOutput& output : block.outputs) {
      if (!is_number(output)) continue;
      count++;
      homes.try_emplace(output.scalar, static_cast<int>(homes.size()));
    }
    if (block.outputs.size() > most_homes) return {};
  }
  if (count <= most_written_out || homes.size() > most_homes) return {};
  std::set<TempId> defined = defined_by_blocks(program);
  bool all = std::all_of(homes.begin(), homes.end(), [&](const auto& home) { return defined.contains(home.first); });
  return all ? homes : std::map<TempId, int>();
}

void ExitWriter::exit(const ProgramBlock& block) {
  stop_unless(cat("!must_stop(frame, ", events_text(), ")"));
  bool by_table = false;
  for (const ExitOutput& output : block.outputs) {
    if (!is_in_place(program_, output) && is_number(output) && !control_.homes.empty())
      by_table = true;
    else
      hand_over(output);
  }
  if (by_table) give_by_table(block);
  if (std::optional<size_t> from = explicit_poll_of(program_, copy_.facts, block))
    code_.line(cat("if (goes_on(frame, ", block.exit, ")) goto c", static_cast<long>(*from), ";"));
  if (block.exit > 0) code_.line(cat("frame->exit = ", block.exit, ";"));
  code_.line("goto done;");
}

void ExitWriter::hand_over(const ExitOutput& output) {
  if (is_in_place(program_, output)) return MemoryWriter(control_).allocate(output.buffer);
  if (is_number(output)) return stop_unless(cat("give_scalar(frame, ", output.output, ", ", temp_name(output.scalar), ")"));
  code_.open("");
  code_.line(cat("const i64 dims[] = {", output.shape.empty() ? "0" : "", dims_text(output.shape), "};"));
  std::string source = cat("frame->buffers[", output.buffer, "]"), bytes = std::to_string(item_size(output.dtype));
  for (Dim d : output.shape) bytes += cat("*", dim(d));
  const char* give = program_.target.is_device() ? "give_from_device" : "give";
  stop_unless(cat(give, "(frame, ", output.output, ", dims, ", source, ", ", bytes, ")"));
  code_.close();
}

// Where the numbers among the outputs are; without a parent.
ExitTable ExitWriter::table_of(const std::vector<ExitOutput>& outputs) const {
  ExitTable table;
  auto before = [](const ExitOutput& a, const ExitOutput& b) { return a.output < b.output; };
  auto [first, last] = std::minmax_element(outputs.begin(), outputs.end(), before);
  table.first = first->output;
  table.homes.assign(static_cast<size_t>(last->output - first->output + 1), no_home);
  for (const ExitOutput& output : outputs)
    if (is_number(output)) table.homes[static_cast<size_t>(output.output - table.first)] = control_.homes.at(output.scalar);
  table.changes = changes_from(nullptr, table);
  return table;
}

void ExitWriter::give_by_table(const ProgramBlock& block) {
  std::vector<ExitTable>& tables = control_.exit_tables;
  ExitTable table = table_of(block.outputs);
  bool is_rare = block.exit > 0;
  for (size_t k = tables.size(); is_rare && k-- > 0 && k + most_compared >= tables.size();) {
    if (tables[k].homes.size() != table.homes.size()) continue;
    auto changes = changes_from(&tables[k], table);
    if (changes.size() >= table.changes.size()) continue;
    table.changes = std::move(changes);
    table.parent = static_cast<int>(k);
  }
  const std::string& name = control_.name;
  stop_unless(cat("give_by_table(frame, ", name, "_exits, ", static_cast<long>(tables.size()), ", ", name, "_changes, home, ",
                  name, "_bytes)"));
  tables.push_back(std::move(table));
}

void ExitWriter::write_tables(Code& out) const {
  if (control_.exit_tables.empty()) return;
  std::vector<std::string> exits, changes, bytes(control_.homes.size());
  for (const ExitTable& table : control_.exit_tables) {
    long begin = static_cast<long>(changes.size());
    for (const auto& [output, home] : table.changes) {
      changes.push_back(std::to_string(output));
      changes.push_back(std::to_string(home));
    }
    exits.push_back(cat("{", table.parent, ", ", table.first, ", ", static_cast<long>(table.homes.size()), ", ", begin, ", ",
                        static_cast<long>(changes.size()), "}"));
  }
  for (const auto& [temp, home] : control_.homes) bytes[static_cast<size_t>(home)] = std::to_string(item_size(dtype(temp)));
  const std::string& name = control_.name;
  out.line(cat("static const ExitTable ", name, "_exits[] = {", listed(exits), "};"));
  out.line(cat("static const u16 ", name, "_changes[] = {", listed(changes), "};"));
  out.line(cat("static const u8 ", name, "_bytes[] = {", listed(bytes), "};"));
}

}  // namespace accel
