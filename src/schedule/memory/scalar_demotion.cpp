#include "schedule/memory/scalar_demotion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/memory/program_state.h"
#include "schedule/program/program.h"

namespace accel {

namespace {

class ScalarDemotion {
 public:
  explicit ScalarDemotion(Program& program) : program_(program), inputs_(program.nests.size()) {}

  bool run() {
    for (size_t k = 0; k < program_.nests.size(); ++k) look_at_nest(k);
    for (size_t b = 0; b < program_.blocks.size(); ++b) look_at_block(b);
    choose();
    for (const auto& [temp, cell] : loads_) demote_load(temp, cell);
    for (TempId param : params_) demote_param(param);
    return !loads_.empty();
  }

 private:
  Buffer& buffer(BufferId id) { return program_.buffers[static_cast<size_t>(id)]; }
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  bool is_cell(const Stmt& stmt) { return stmt.address.buffer >= 0 && buffer(stmt.address.buffer).kind == BufferKind::cell; }

  // --- uses -----------------------------------------------------------------------------------------------------------

  void look_at_nest(size_t number) {
    const Body& body = program_.nests[number].body;
    const std::vector<TempId> temps = temps_from_outside(body);
    inputs_[number] = {temps.begin(), temps.end()};
    const auto calls_library = [](const Stmt& stmt) { return !stmt.operands.empty(); };
    if (any_statement(body, calls_library)) used_.insert(temps.begin(), temps.end());  // by the host, which calls it
    count_accesses(body);
    for (const Stmt& stmt : body)
      if (stmt.kind == StmtKind::store && is_cell(stmt)) stores_[stmt.address.buffer].push_back(number);
  }

  void count_accesses(const Body& body) {
    for (const Stmt& stmt : body) {
      if (is_cell(stmt)) ++accesses_[stmt.address.buffer];
      count_accesses(stmt.body);
    }
  }

  void look_at_block(size_t number) {
    const ProgramBlock& block = program_.blocks[number];
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body) look_at_scalar(stmt);
    used_.insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) {
        assignments_[param].emplace_back(number, value);
        params_.insert(param);
        if (block.end != BlockEnd::jump) used_.insert(param);  // a copy before a branch would be made on both paths
      }
  }

  void look_at_scalar(const Stmt& stmt) {
    used_.insert(stmt.args.begin(), stmt.args.end());
    if (is_cell(stmt)) ++accesses_[stmt.address.buffer];
    if (stmt.kind == StmtKind::load && is_cell(stmt) && loads_.emplace(stmt.dst, stmt.address.buffer).second) return;
    if (stmt.dst >= 0) used_.insert(stmt.dst);
  }

  // Removes the loads and parameters that the host needs. What is assigned to a parameter that is not demoted is needed, too.
  void choose() {
    std::erase_if(loads_, [&](const auto& load) { return used_.contains(load.first) || !is_only_access(load.second); });
    std::erase_if(params_, [&](TempId param) { return used_.contains(param); });
    for (bool changes = true; std::exchange(changes, false);) {
      changes |= std::erase_if(params_, [&](TempId param) { return !can_demote(param); }) > 0;
      for (const auto& [param, assigned] : assignments_)
        for (const auto& [block, value] : assigned)
          if (!params_.contains(param)) changes |= loads_.erase(value) + params_.erase(value) > 0;
    }
  }

  // Whether a nest stores to the cell once and nothing but one load follows.
  bool is_only_access(BufferId cell) { return stores_[cell].size() == 1 && accesses_[cell] == 2; }

  // A parameter is worth it if one of its values is on the device. None may be another demoted parameter: an edge assigns all
  // parameters at once, copies are made one after the other.
  bool can_demote(TempId param) {
    bool has_load = false;
    for (const auto& [block, value] : assignments_[param]) {
      if (value != param && params_.contains(value)) return false;
      has_load |= loads_.contains(value);
    }
    return has_load;
  }

  // --- changes --------------------------------------------------------------------------------------------------------

  void demote_load(TempId temp, BufferId cell) {
    for (ProgramBlock& block : program_.blocks) remove_load(block, temp);
    for (ProgramBlock& block : program_.blocks) load_at_exit(block, temp, cell);
    memory_[temp] = add_memory(BufferKind::temp, temp, buffer(cell).name);
    Body& body = program_.nests[stores_[cell].front()].body;
    const auto store = std::find_if(body.begin(), body.end(), [&](const Stmt& stmt) {
      return stmt.kind == StmtKind::store && stmt.address.buffer == cell;
    });
    Stmt second = *store;
    second.address.buffer = memory_[temp];
    body.insert(std::next(store), std::move(second));
    load_in_nests(temp);
  }

  void demote_param(TempId param) {
    const std::string name = "t" + std::to_string(param);
    memory_[param] = add_memory(BufferKind::temp, param, name);
    load_in_nests(param);
    for (const auto& [number, value] : assignments_[param]) {
      ProgramBlock& block = program_.blocks[number];
      std::erase_if(block.edges[0].scalars, [&](const auto& assignment) { return assignment.first == param; });
      if (value != param) add_copy(block, value, memory_[param]);
    }
    for (ProgramBlock& block : program_.blocks) {
      if (!hands_over(block, param)) continue;
      const BufferId cell = add_memory(BufferKind::cell, param, name);
      add_copy(block, param, cell);
      load_at_exit(block, param, cell);
    }
  }

  // Adds a nest that stores a number: what its memory has, if it is demoted, else the temp's value.
  void add_copy(ProgramBlock& block, TempId value, BufferId to) {
    Nest nest;
    nest.name = "number";
    nest.work = program_.dims.constant(1);
    const auto from = memory_.find(value);
    Stmt store = access(StmtKind::store, dtype(value), to);
    store.args = {from == memory_.end() ? value : program_.add_temp(dtype(value))};
    if (from != memory_.end()) nest.body.push_back(load(store.args[0], from->second));
    nest.body.push_back(std::move(store));
    program_.nests.push_back(std::move(nest));
    block.steps.push_back({StepKind::nest, {}, static_cast<int>(program_.nests.size()) - 1, -1});
  }

  BufferId add_memory(BufferKind kind, TempId temp, std::string name) {
    return program_.add_buffer({kind, dtype(temp), program_.dims.constant(1), -1, std::move(name), {}, {}});
  }

  static void remove_load(ProgramBlock& block, TempId temp) {
    for (BlockStep& step : block.steps)
      std::erase_if(step.body, [&](const Stmt& stmt) { return stmt.kind == StmtKind::load && stmt.dst == temp; });
    std::erase_if(block.steps, [](const BlockStep& step) { return step.kind == StepKind::scalars && step.body.empty(); });
  }

  static bool hands_over(const ProgramBlock& block, TempId temp) {
    return std::any_of(block.outputs.begin(), block.outputs.end(), [&](const ExitOutput& o) { return o.scalar == temp; });
  }

  void load_at_exit(ProgramBlock& block, TempId temp, BufferId cell) {
    if (!hands_over(block, temp)) return;
    const TempId loaded = program_.add_temp(dtype(temp));
    for (ExitOutput& output : block.outputs)
      if (output.scalar == temp) output.scalar = loaded;
    if (block.steps.empty() || block.steps.back().kind != StepKind::scalars)
      block.steps.push_back({StepKind::scalars, {}, -1, -1});
    block.steps.back().body.push_back(load(loaded, cell));
  }

  void load_in_nests(TempId temp) {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!inputs_[k].contains(temp)) continue;
      const TempId loaded = program_.add_temp(dtype(temp));
      Body& body = program_.nests[k].body;
      replace(body, temp, loaded);
      body.insert(body.begin(), load(loaded, memory_[temp]));
    }
  }

  static void replace(Body& body, TempId from, TempId to) {
    for (Stmt& stmt : body) {
      std::replace(stmt.args.begin(), stmt.args.end(), from, to);
      replace(stmt.body, from, to);
    }
  }

  Stmt load(TempId temp, BufferId from) {
    Stmt load = access(StmtKind::load, dtype(temp), from);
    load.dst = temp;
    return load;
  }

  Stmt access(StmtKind kind, DType dtype, BufferId id) {
    Stmt access;
    access.kind = kind;
    access.dtype = dtype;
    access.address = {id, program_.dims.constant(0)};
    return access;
  }

  Program& program_;
  std::vector<std::set<TempId>> inputs_;            // by nest: temps that it gets from the host
  std::map<BufferId, std::vector<size_t>> stores_;  // by cell: nests that store to it
  std::map<BufferId, int> accesses_;                // by cell
  std::map<TempId, BufferId> loads_;                // temps that scalar steps load from cells; after `choose` those to demote
  std::set<TempId> params_;                         // parameters of blocks; after `choose` those to demote
  std::map<TempId, std::vector<std::pair<size_t, TempId>>> assignments_;  // by parameter: blocks whose edge assigns it, values
  std::set<TempId> used_;                                                 // by the host, other than by edges and exits
  std::map<TempId, BufferId> memory_;                                     // of demoted numbers, on the device
};

}  // namespace

Result<bool> demote_scalars(ProgramState& state) { return ScalarDemotion(state.program).run(); }

}  // namespace accel
