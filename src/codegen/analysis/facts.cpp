#include "codegen/analysis/facts.h"

#include <algorithm>

#include "codegen/analysis/preserved_events.h"

namespace accel {

Facts::Facts(const Program& program, bool quiet_comparisons) : program_(program), definitions_(program.temps.size()) {
  for (const Nest& nest : program.nests) find_definitions(nest.body);
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps) find_definitions(step.body);
  preserved_ = preserved_events(program, definitions_, quiet_comparisons);
  deferred_checks_ = accel::deferred_checks(program);
  find_panels();
}

void Facts::find_definitions(const Body& body) {
  for (const Stmt& stmt : body) {
    bool defines = stmt.dst >= 0 && stmt.kind != StmtKind::declare && stmt.kind != StmtKind::assign;
    if (defines) definitions_[static_cast<size_t>(stmt.dst)] = &stmt;
    find_definitions(stmt.body);
  }
}

void Facts::find_panels() {
  DimTable dims = program_.dims;
  auto memory = [&](BufferId id) -> const Buffer& { return program_.buffers[static_cast<size_t>(program_.memory_of(id))]; };
  auto is_dense_input = [&](const Buffer& buffer) {
    if (buffer.kind != BufferKind::input || buffer.shape.size() != buffer.strides.size()) return false;
    Dim expected = dims.constant(item_size(buffer.dtype));
    for (size_t k = buffer.shape.size(); k-- > 0;) {
      if (buffer.strides[k] != expected) return false;
      expected = dims.mul(expected, buffer.shape[k]);
    }
    return true;
  };
  panels_.assign(program_.nests.size(), -1);
  for (size_t k = 0; k < program_.nests.size() && !program_.blocks.empty(); ++k) {
    const Body& body = program_.nests[k].body;
    std::optional<Dot> dot = body.size() == 1 ? dot_of(program_, body[0]) : std::nullopt;
    if (!dot) continue;
    const Buffer &row = memory(body[0].operands[dot->row].address.buffer),
                 &column = memory(body[0].operands[dot->column].address.buffer);
    bool writes_input = memory(body[0].operands[2].address.buffer).kind == BufferKind::input;
    if (row.kind == BufferKind::input && is_dense_input(column) && !writes_input) panels_[k] = panel_count_++;
  }
}

bool Facts::is_launch_constant(TempId temp) const {
  const Stmt* stmt = definition(temp);
  return stmt && (stmt->kind == StmtKind::constant || stmt->kind == StmtKind::input);
}

bool Facts::is_of_constants(TempId temp) const {
  const Stmt* source = definition(temp);
  if (source == nullptr || source->kind != StmtKind::compute) return source != nullptr && source->kind == StmtKind::constant;
  return std::all_of(source->args.begin(), source->args.end(), [&](TempId arg) { return is_of_constants(arg); });
}

int Facts::events(const Body& body) const {
  int bits = 0;
  for (const Stmt& stmt : body) bits |= program_.own_events(stmt) | events(stmt.body);
  return bits;
}

std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest) {
  std::vector<TempId> temps = temps_from_outside(nest.body);
  std::erase_if(temps, [&](TempId temp) { return facts.is_launch_constant(temp); });
  return temps;
}

}  // namespace accel
