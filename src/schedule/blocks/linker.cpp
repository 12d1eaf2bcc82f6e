#include "schedule/blocks/linker.h"

#include <algorithm>
#include <utility>

#include "schedule/blocks/block_code.h"
#include "schedule/graph/copy_insertion.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

// Whether a body stores to the buffer, or passes it to a NumPy loop, which needs it in memory.
bool has_in_memory(const Body& body, BufferId id) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    return (stmt.kind == StmtKind::store && stmt.address.buffer == id) || has_in_memory(stmt.body, id) ||
           std::any_of(stmt.operands.begin(), stmt.operands.end(),
                       [&](const CallOperand& o) { return o.address.buffer == id; });
  });
}

// Before the nests at the end of the steps, so that these remain neighbours.
void insert_scalar(Stmt stmt, std::vector<BlockStep>& steps) {
  auto at = steps.end();
  while (at != steps.begin() && std::prev(at)->kind == StepKind::nest) --at;
  if (at == steps.begin() || std::prev(at)->kind != StepKind::scalars)
    at = steps.insert(at, {StepKind::scalars, {}, -1, -1});
  else
    --at;
  at->body.push_back(std::move(stmt));
}

bool is_constant(const Stmt& stmt) { return stmt.kind == StmtKind::constant || stmt.kind == StmtKind::index; }

}  // namespace

void Linker::link(const SegmentGraph& part, Program program, std::vector<BlockStep>& steps) {
  names_ = {};
  const std::vector<bool> is_step = find_scalar_steps(part, program);
  name_buffers(part, program);
  for (const LoopImport& import : program.imports) names_.imports.push_back(program_.add_import(import));
  names_.first_temp = static_cast<TempId>(program_.temps.size());
  program_.temps.insert(program_.temps.end(), program.temps.begin(), program.temps.end());
  for (const auto& [slot, v] : part.scalars) names_.slots[slot] = v;
  for (size_t k = 0; k < program.nests.size(); k++) {
    Nest& nest = program.nests[k];
    if (is_step[k])
      add_scalars(std::move(nest.body), steps);
    else
      add_nest(std::move(nest), steps);
  }
}

// Which nests become scalar steps, and which buffers temps replace. The host cannot access the memory of a device, and has no
// loops of NumPy's there: code on single elements stays a nest when it accesses arrays, or a number that such a nest computes,
// or has an operation without text for the host.
std::vector<bool> Linker::find_scalar_steps(const SegmentGraph& part, const Program& program) {
  for (BufferId id = 0; id < static_cast<BufferId>(program.buffers.size()); id++)
    if (is_scalar_local(graph_.dims, program, id)) names_.locals[id] = -1;
  std::vector<bool> is_step;
  for (const Nest& nest : program.nests) is_step.push_back(is_scalar_code(nest.body));
  if (!graph_.target.is_device()) return is_step;
  for (size_t k = 0; k < is_step.size(); k++)
    if (std::any_of(program.nests[k].body.begin(), program.nests[k].body.end(), needs_loop_of_numpy)) is_step[k] = false;
  auto is_in_memory = [&](BufferId id) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(id)];
    if (buffer.kind != BufferKind::output) return !names_.locals.contains(id);
    return lives_in_memory(graph_, places_.origins, part.outputs[static_cast<size_t>(buffer.binding)]);
  };
  for (bool changes = true; std::exchange(changes, false);) {
    for (size_t k = 0; k < is_step.size(); k++) {
      std::set<BufferId> named;
      for (const Stmt& stmt : program.nests[k].body)
        if (stmt.address.buffer >= 0) named.insert(stmt.address.buffer);
      if (is_step[k] && std::any_of(named.begin(), named.end(), is_in_memory)) is_step[k] = false, changes = true;
      if (is_step[k]) continue;
      for (BufferId id : named) changes |= names_.locals.erase(id) > 0;
    }
  }
  return is_step;
}

void Linker::name_buffers(const SegmentGraph& part, const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    BufferId id = static_cast<BufferId>(names_.buffers.size());
    if (buffer.kind == BufferKind::input) {
      BufferId own = places_.buffer(part.arrays[static_cast<size_t>(buffer.binding)]);
      names_.buffers.push_back(part.aliases.contains(buffer.binding) ? alias_of(own) : own);
    } else if (buffer.kind == BufferKind::output) {
      ValueId v = part.outputs[static_cast<size_t>(buffer.binding)];
      bool in_memory = lives_in_memory(graph_, places_.origins, v);
      if (!in_memory) names_.scalars[id] = v;
      names_.buffers.push_back(in_memory ? places_.buffer(v) : -1);
    } else if (names_.locals.contains(id)) {
      names_.buffers.push_back(-1);
    } else {
      names_.buffers.push_back(program_.add_buffer(buffer));
    }
  }
}

BufferId Linker::alias_of(BufferId id) {
  if (auto known = aliases_.find(id); known != aliases_.end()) return known->second;
  const Buffer& info = program_.buffers[static_cast<size_t>(id)];
  return aliases_[id] = program_.add_buffer({BufferKind::alias, info.dtype, info.elements, id, info.name, {}, {}});
}

// Adds scalar statements; aliases are resolved, as scalar steps use one buffer id per memory.
void Linker::add_scalars(Body body, std::vector<BlockStep>& steps) {
  for (Stmt& stmt : renamed(std::move(body))) {
    if (stmt.address.buffer >= 0) stmt.address.buffer = program_.memory_of(stmt.address.buffer);
    append_scalar(std::move(stmt), steps);
  }
}

// Numbers that a nest for a device would store to cells though the host can compute them, become scalar steps: constants,
// extents, and what is computed from these and from Python's numbers.
void Linker::take_host_numbers(Body& body, std::vector<BlockStep>& steps) {
  HostNumbers numbers;
  for (const Stmt& stmt : body)
    if (is_host_number(stmt, numbers)) numbers.statements[stmt.dst] = stmt;
  Body rest;
  for (const Stmt& stmt : body) {
    const bool is_stored = stmt.kind == StmtKind::store && names_.scalars.contains(stmt.address.buffer);
    const ValueId v = is_stored ? names_.scalars.at(stmt.address.buffer) : no_value;
    if (!is_stored || !numbers.statements.contains(stmt.args[0]) || stmt.dtype != graph_.type(v).dtype) {
      rest.push_back(stmt);
      continue;
    }
    Stmt assign;
    assign.kind = StmtKind::assign;
    assign.dtype = stmt.dtype;
    assign.args = {host_number(stmt.args[0], numbers, steps)};
    assign.dst = places_.temp(v);
    insert_scalar(std::move(assign), steps);
    names_.assigned.insert(v);
  }
  body = std::move(rest);
}

bool Linker::is_host_number(const Stmt& stmt, const HostNumbers& numbers) const {
  if (stmt.kind == StmtKind::input) {
    const auto slot = names_.slots.find(stmt.slot);
    return slot != names_.slots.end() && graph_.type(slot->second).kind == ValueKind::py_scalar;
  }
  auto is_known = [&](TempId temp) { return numbers.statements.contains(temp); };
  const bool is_computed = stmt.kind == StmtKind::compute && !needs_loop_of_numpy(stmt);
  return is_constant(stmt) || (is_computed && std::all_of(stmt.args.begin(), stmt.args.end(), is_known));
}

// The temp of the whole program that has the number; adds the steps that compute it.
TempId Linker::host_number(TempId temp, HostNumbers& numbers, std::vector<BlockStep>& steps) {
  const auto found = numbers.temps.find(temp);
  if (found != numbers.temps.end()) return found->second;
  Stmt stmt = numbers.statements.at(temp);
  if (stmt.kind == StmtKind::input) return numbers.temps[temp] = places_.temp(names_.slots.at(stmt.slot));
  for (TempId& arg : stmt.args) arg = host_number(arg, numbers, steps);
  stmt.dst = numbers.temps[temp] = program_.add_temp(program_.temps[static_cast<size_t>(names_.first_temp + temp)]);
  stmt.node = -1;
  insert_scalar(std::move(stmt), steps);
  return numbers.temps[temp];
}

// Adds a nest. Scalars that it stores, or passes to a NumPy loop, go through cells.
void Linker::add_nest(Nest nest, std::vector<BlockStep>& steps) {
  if (graph_.target.is_device()) take_host_numbers(nest.body, steps);
  if (std::all_of(nest.body.begin(), nest.body.end(), is_constant)) return;
  std::vector<std::pair<ValueId, BufferId>> cells;
  for (const auto& [own, v] : names_.scalars) {
    names_.buffers[static_cast<size_t>(own)] = -1;
    if (!has_in_memory(nest.body, own)) continue;
    DType dtype = graph_.type(v).dtype;
    BufferId cell =
        program_.add_buffer({BufferKind::cell, dtype, graph_.dims.constant(1), -1, "v" + std::to_string(v), {}, {}});
    names_.buffers[static_cast<size_t>(own)] = cell;
    cells.emplace_back(v, cell);
  }
  for (const auto& [v, cell] : cells) {
    if (names_.assigned.contains(v)) append_scalar(access(StmtKind::store, v, cell), steps);
  }
  nest.body = renamed(std::move(nest.body));
  program_.nests.push_back(std::move(nest));
  steps.push_back({StepKind::nest, {}, static_cast<int>(program_.nests.size()) - 1, -1});
  for (const auto& [v, cell] : cells) {
    append_scalar(access(StmtKind::load, v, cell), steps);
    names_.assigned.insert(v);
  }
}

// A load or store that moves scalar `v` of the whole program from or to its cell.
Stmt Linker::access(StmtKind kind, ValueId v, BufferId cell) const {
  Stmt access;
  access.kind = kind;
  access.dtype = graph_.type(v).dtype;
  access.address = {cell, graph_.dims.constant(0)};
  if (kind == StmtKind::load)
    access.dst = places_.temp(v);
  else
    access.args = {places_.temp(v)};
  return access;
}

Body Linker::renamed(Body body) {
  Body out;
  for (Stmt& stmt : body) {
    if (stmt.kind == StmtKind::input && names_.slots.contains(stmt.slot)) {
      names_.temps[stmt.dst] = places_.temp(names_.slots.at(stmt.slot));
    } else if (is_of_scalar(stmt)) {
      ValueId whole = names_.scalars.at(stmt.address.buffer);
      if (graph_.type(whole).dtype != stmt.dtype)
        out.push_back(part_of(std::move(stmt), places_.temp(whole)));
      else
        names_.temps[stmt.dst] = places_.temp(whole);
    } else {
      for (TempId& arg : stmt.args) arg = renamed(arg);
      if (moves_local(stmt)) continue;
      rename(stmt);
      out.push_back(std::move(stmt));
    }
  }
  return out;
}

// Whether a load reads a scalar that an earlier nest has computed.
bool Linker::is_of_scalar(const Stmt& load) const {
  return load.kind == StmtKind::load && names_.scalars.contains(load.address.buffer) && renamed_buffer(load.address.buffer) < 0;
}

// Removes a load or store of a buffer that is replaced by a temp, and records the temp; false for any other statement.
bool Linker::moves_local(const Stmt& stmt) {
  auto local = names_.locals.find(stmt.address.buffer);
  if (local == names_.locals.end()) return false;
  if (stmt.kind == StmtKind::store)
    local->second = stmt.args[0];
  else
    names_.temps[stmt.dst] = local->second;
  return true;
}

// Renames everything but the arguments. A store to a scalar output becomes an assignment to its temp.
void Linker::rename(Stmt& stmt) {
  if (stmt.dst >= 0) stmt.dst = renamed(stmt.dst);
  if (stmt.import >= 0) stmt.import = names_.imports[static_cast<size_t>(stmt.import)];
  for (CallOperand& operand : stmt.operands) operand.address.buffer = renamed_buffer(operand.address.buffer);
  stmt.node = -1;
  if (stmt.kind == StmtKind::store && renamed_buffer(stmt.address.buffer) < 0) {
    stmt.kind = StmtKind::assign;
    ValueId v = names_.scalars.at(stmt.address.buffer);
    stmt.dst = places_.temp(v);
    names_.assigned.insert(v);
    stmt.address = {};
  } else {
    stmt.address.buffer = renamed_buffer(stmt.address.buffer);
  }
  stmt.body = renamed(std::move(stmt.body));
}

// A load of the real or imaginary part as a computation from the whole scalar.
Stmt Linker::part_of(Stmt load, TempId whole) const {
  load.kind = StmtKind::compute;
  load.op = graph_.dims.is_constant(load.address.offset, 0) ? Op::real : Op::imag;
  load.args = {whole};
  load.dst = renamed(load.dst);
  load.address = {};
  load.node = -1;
  return load;
}

TempId Linker::renamed(TempId temp) const {
  auto found = names_.temps.find(temp);
  return found != names_.temps.end() ? found->second : temp + names_.first_temp;
}

}  // namespace accel
