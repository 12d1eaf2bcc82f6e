#include "codegen/analysis/facts.h"

#include <algorithm>
#include <map>

#include "codegen/analysis/overwritten_stores.h"

namespace accel {

namespace {

void collect_temps(const Body& body, std::set<TempId>& read, std::set<TempId>& computed) {
  for (const Stmt& stmt : body) {
    for (TempId arg : stmt.args) read.insert(arg);
    if (stmt.kind == StmtKind::assign)
      read.insert(stmt.dst);
    else if (stmt.dst >= 0)
      computed.insert(stmt.dst);
    collect_temps(stmt.body, read, computed);
  }
}

void collect_buffers(const Body& body, std::set<BufferId>& out) {
  for (const Stmt& stmt : body) {
    if (stmt.address.buffer >= 0) out.insert(stmt.address.buffer);
    for (const CallOperand& operand : stmt.operands)
      if (operand.address.buffer >= 0) out.insert(operand.address.buffer);
    collect_buffers(stmt.body, out);
  }
}

void collect_traffic(const Program& program, const Body& body, std::set<BufferId>& stored, std::set<BufferId>& loaded) {
  for (const Stmt& stmt : body) {
    if (stmt.address.buffer >= 0) (is_store(stmt.kind) ? stored : loaded).insert(program.memory_of(stmt.address.buffer));
    for (const CallOperand& operand : stmt.operands) {
      if (operand.address.buffer < 0) continue;
      stored.insert(program.memory_of(operand.address.buffer));
      loaded.insert(program.memory_of(operand.address.buffer));
    }
    collect_traffic(program, stmt.body, stored, loaded);
  }
}

// Whether a statement does nothing but give its temp a value.
bool only_moves(const Stmt& stmt) { return stmt.dst >= 0 && (stmt.kind == StmtKind::compute || stmt.kind == StmtKind::assign); }

using Temps = std::vector<bool>;

// What is used for certain before a block's statements, from what is used behind them; act(stmt, used) sees each with the
// latter. `undone`: stores that nobody may ever see.
template <class Act>
void go_backwards(const ProgramBlock& block, const std::set<const Stmt*>& undone, Temps& used, Act act) {
  for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) {
    for (auto stmt = step->body.rbegin(); stmt != step->body.rend(); ++stmt) {
      act(*stmt, used);
      if ((only_moves(*stmt) && !used[static_cast<size_t>(stmt->dst)]) || undone.contains(&*stmt)) continue;
      for (TempId arg : stmt->args) used[static_cast<size_t>(arg)] = true;
    }
  }
}

// What is used for certain behind a block's statements, by its end and on all ways from there.
Temps used_behind(const ProgramBlock& block, const std::vector<Temps>& before, size_t temps) {
  Temps out(temps, std::any_of(std::begin(block.edges), std::end(block.edges), [](const Edge& e) { return e.target >= 0; }));
  for (const Edge& edge : block.edges) {
    if (edge.target < 0) continue;
    Temps there = before[static_cast<size_t>(edge.target)];
    Temps here = there;
    for (const auto& [param, value] : edge.scalars) here[static_cast<size_t>(param)] = false;
    for (const auto& [param, value] : edge.scalars)
      if (there[static_cast<size_t>(param)]) here[static_cast<size_t>(value)] = true;
    for (size_t k = 0; k < temps; ++k) out[k] = out[k] && here[k];
  }
  if (block.condition >= 0) out[static_cast<size_t>(block.condition)] = true;
  for (const ExitOutput& output : block.outputs)
    if (output.scalar >= 0) out[static_cast<size_t>(output.scalar)] = true;
  return out;
}

void count_stores(const Program& program, const Body& body, std::map<BufferId, int>& counts) {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) ++counts[program.memory_of(stmt.address.buffer)];
    count_stores(program, stmt.body, counts);
  }
}

}  // namespace

Facts::Facts(const Program& program, bool quiet_comparisons)
    : program_(program),
      quiet_comparisons_(quiet_comparisons),
      definitions_(program.temps.size()),
      used_(program.temps.size(), false),
      parts_(program.temps.size(), no_part) {
  for (const Nest& nest : program.nests) visit(nest.body);
  for (const ProgramBlock& block : program.blocks) visit(block);
  use_sources();
  for (const Nest& nest : program.nests) keep_what_selections_drop(nest.body);
  for (const ProgramBlock& block : program.blocks)
    for (const BlockStep& step : block.steps) keep_what_selections_drop(step.body);
  keep_what_stores_drop();
  keep_what_ways_drop();
  find_panels();
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

void Facts::visit(const ProgramBlock& block) {
  auto use = [&](TempId temp) {
    if (temp < 0) return;
    used_[static_cast<size_t>(temp)] = true;
    parts_[static_cast<size_t>(temp)] = both_parts;
  };
  for (const BlockStep& step : block.steps) visit(step.body);
  use(block.condition);
  for (const Edge& edge : block.edges)
    for (const auto& [param, value] : edge.scalars) moves_.emplace_back(param, value);
  for (const ExitOutput& output : block.outputs) use(output.scalar);
}

void Facts::visit(const Body& body) {
  for (const Stmt& stmt : body) {
    bool moves = only_moves(stmt);
    const Parts parts = parts_used(stmt);
    for (TempId arg : stmt.args) {
      parts_[static_cast<size_t>(arg)] |= parts;
      if (moves)
        moves_.emplace_back(stmt.dst, arg);
      else
        used_[static_cast<size_t>(arg)] = true;
    }
    if (stmt.dst >= 0 && stmt.kind != StmtKind::declare && stmt.kind != StmtKind::assign) {
      definitions_[static_cast<size_t>(stmt.dst)] = &stmt;
    }
    visit(stmt.body);
  }
}

// The C++ compiler leaves out stores, and what they store, that others take the place of before anybody has looked. In loops it
// does so where it sees all elements at once.
void Facts::keep_what_stores_drop() {
  std::map<BufferId, int> counts;
  for (const Nest& nest : program_.nests) count_stores(program_, nest.body, counts);
  for (const ProgramBlock& block : program_.blocks)
    for (const BlockStep& step : block.steps) count_stores(program_, step.body, counts);
  auto is_one_of_many = [&](const Stmt& store) { return counts[program_.memory_of(store.address.buffer)] > 1; };
  for (const Nest& nest : program_.nests)
    for_each_unrolled_store(nest.body, [&](const Stmt& store) {
      if (is_one_of_many(store)) keep_sources(store.args[0]);
    });
  for (size_t b = 0; b < program_.blocks.size(); ++b) {
    const std::vector<BlockStep>& steps = program_.blocks[b].steps;
    for (size_t at = 0; at < steps.size(); ++at)
      for (size_t k = 0; k < steps[at].body.size(); ++k) {
        const Stmt& stmt = steps[at].body[k];
        if (is_store(stmt.kind) && may_be_overwritten(program_, {static_cast<int>(b), at, k})) undone_.insert(&stmt);
      }
  }
}

// Stores in loops whose extents are constants.
void Facts::for_each_unrolled_store(const Body& body, const std::function<void(const Stmt&)>& act) const {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) act(stmt);
    if (stmt.kind == StmtKind::loop && program_.dims.as_constant(stmt.extent)) for_each_unrolled_store(stmt.body, act);
  }
}

// The C++ compiler computes numbers that are used on one way only there. Those with events are kept.
void Facts::keep_what_ways_drop() {
  const size_t temps = used_.size();
  std::vector<Temps> before(program_.blocks.size(), Temps(temps, true));
  auto nothing = [](const Stmt&, const Temps&) {};
  for (bool again = true; again;) {
    again = false;
    for (size_t b = program_.blocks.size(); b-- > 0;) {
      Temps used = used_behind(program_.blocks[b], before, temps);
      go_backwards(program_.blocks[b], undone_, used, nothing);
      if (used == before[b]) continue;
      before[b] = std::move(used);
      again = true;
    }
  }
  for (const ProgramBlock& block : program_.blocks) {
    Temps used = used_behind(block, before, temps);
    go_backwards(block, undone_, used, [&](const Stmt& stmt, const Temps& behind) {
      if (stmt.kind == StmtKind::compute && stmt.dst >= 0 && !behind[static_cast<size_t>(stmt.dst)]) keep_sources(stmt.dst);
    });
  }
}

// Numbers that only go around in a loop are not used: the C++ compiler drops them.
void Facts::use_sources() {
  std::vector<std::vector<TempId>> sources(used_.size());
  for (const auto& [to, from] : moves_) sources[static_cast<size_t>(to)].push_back(from);
  std::vector<size_t> open;
  for (size_t temp = 0; temp < used_.size(); ++temp)
    if (used_[temp]) open.push_back(temp);
  while (!open.empty()) {
    size_t temp = open.back();
    open.pop_back();
    for (TempId from : sources[temp]) {
      auto source = static_cast<size_t>(from);
      if (used_[source]) continue;
      used_[source] = true;
      open.push_back(source);
    }
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

void Facts::keep_sources(TempId temp) {
  const Stmt* stmt = definition(temp);
  if (!stmt || stmt->kind != StmtKind::compute || !with_sources_.insert(temp).second) return;
  if (program_.own_events(*stmt) != 0) {
    kept_.insert(temp);
    return;
  }
  for (TempId arg : stmt->args) keep_sources(arg);
}

// The parts of a complex operand that a statement uses. An operation without events (a conjugate) counts as using none: what is
// used of its result decides.
Facts::Parts Facts::parts_used(const Stmt& stmt) const {
  if (stmt.kind != StmtKind::compute) return both_parts;
  if (stmt.op == Op::imag) return imaginary_part;
  const bool makes_real = dtype_kind(program_.temps[static_cast<size_t>(stmt.dst)]) != 'c';
  if (stmt.op == Op::real || (stmt.op == Op::astype && makes_real)) return real_part;
  return program_.own_events(stmt) != 0 ? both_parts : no_part;
}

// Whether a statement takes one part of a complex number whose other part nobody uses: the C++ compiler does not compute that.
bool Facts::drops_part(const Stmt& stmt) const {
  const Parts parts = parts_used(stmt);
  if (parts != real_part && parts != imaginary_part) return false;
  const auto of = static_cast<size_t>(stmt.args[0]);
  return dtype_kind(program_.temps[of]) == 'c' && parts_[of] != both_parts;
}

bool Facts::is_selection(const Stmt& stmt) const {
  bool chooses = stmt.kind == StmtKind::compute && (stmt.op == Op::where || stmt.op == Op::lanes);
  chooses |= drops_part(stmt);
  bool combines = stmt.kind == StmtKind::compute || stmt.kind == StmtKind::fold || stmt.kind == StmtKind::argreduce;
  return chooses || (quiet_comparisons_ && combines && signals_on_nan(stmt.op));
}

void Facts::keep_what_selections_drop(const Body& body) {
  for (const Stmt& stmt : body) {
    if (is_selection(stmt)) {
      for (TempId arg : stmt.args) keep_sources(arg);
    } else if (stmt.kind == StmtKind::compute && stmt.op == Op::merge) {
      keep_sources(stmt.args[2]);  // the other one does not exist where it is not chosen
    }
    if (stmt.dst >= 0 && !used_[static_cast<size_t>(stmt.dst)]) keep_sources(stmt.dst);
    keep_what_selections_drop(stmt.body);
  }
}

bool is_of_roots(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::argreduce || stmt.body.empty()) return false;
  const Stmt& last = stmt.body.back();
  if (last.kind != StmtKind::compute || last.op != Op::sqrt || last.dst != stmt.args[0]) return false;
  auto dtype = [&](TempId temp) { return program.temps[static_cast<size_t>(temp)]; };
  return dtype(last.dst) == dtype(last.args[0]) && (dtype(last.dst) == DType::float64 || dtype(last.dst) == DType::float32);
}

std::optional<Dot> dot_of(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::gufunc) return std::nullopt;
  const std::vector<DType>& dtypes = program.imports[static_cast<size_t>(stmt.import)].dtypes;
  if (dtypes != std::vector<DType>(3, DType::float64)) return std::nullopt;
  const std::vector<Dim>&extents = stmt.core_dims, &strides = stmt.core_strides;
  bool vectors = program.dims.is_constant(extents[0], 1) && program.dims.is_constant(extents.back(), 1);
  if (stmt.op != Op::vecdot && (stmt.op != Op::matmul || !vectors)) return std::nullopt;
  size_t first = stmt.op == Op::vecdot ? 0 : 1;
  Dot dot{0, 1, strides[first], strides[first + 1], extents[first]};
  if (!program.dims.is_constant(dot.column_stride, item_size(DType::float64))) return dot;
  return Dot{1, 0, dot.column_stride, dot.row_stride, dot.extent};
}

bool is_matrix_by_vector(const Program& program, const Stmt& stmt) {
  if (stmt.kind != StmtKind::gufunc || stmt.op != Op::matmul || stmt.extent.id >= 0) return false;
  const std::vector<DType>& dtypes = program.imports[static_cast<size_t>(stmt.import)].dtypes;
  bool real = dtypes == std::vector<DType>(3, DType::float64) || dtypes == std::vector<DType>(3, DType::float32);
  return real && !program.dims.is_constant(stmt.core_dims.front(), 1) && program.dims.is_constant(stmt.core_dims.back(), 1);
}

bool loads_what_it_stores(const Program& program, const Body& body) {
  std::set<BufferId> stored, loaded;
  collect_traffic(program, body, stored, loaded);
  return std::any_of(stored.begin(), stored.end(), [&](BufferId id) { return loaded.contains(id); });
}

std::vector<TempId> temps_from_outside(const Body& body) {
  std::set<TempId> read, computed;
  collect_temps(body, read, computed);
  std::vector<TempId> out;
  std::set_difference(read.begin(), read.end(), computed.begin(), computed.end(), std::back_inserter(out));
  return out;
}

std::vector<TempId> nest_parameters(const Facts& facts, const Nest& nest) {
  std::vector<TempId> temps = temps_from_outside(nest.body);
  std::erase_if(temps, [&](TempId temp) { return facts.is_launch_constant(temp); });
  return temps;
}

std::vector<BufferId> buffers_of(const Body& body) {
  std::set<BufferId> out;
  collect_buffers(body, out);
  return {out.begin(), out.end()};
}

}  // namespace accel
