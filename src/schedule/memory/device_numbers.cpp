#include "schedule/memory/device_numbers.h"

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

class NumberKeeper {
 public:
  explicit NumberKeeper(Program& program) : program_(program), nests_(program.nests.size()) {}

  bool run() {
    for (size_t k = 0; k < program_.nests.size(); ++k) look_at_nest(k);
    for (size_t b = 0; b < program_.blocks.size(); ++b) look_at_block(b);
    for (const auto& [temp, cell] : loads_)
      if (is_like_cell(temp, cell)) kept_[temp] = cell;
    for (const auto& [param, sources] : sources_)
      if (!used_.contains(param)) carried_.insert(param);
    while (drop_carried() || drop_kept()) {
    }
    for (const auto& [temp, cell] : kept_) keep(temp, cell);
    for (TempId param : carried_) carry(param);
    return !kept_.empty();
  }

 private:
  struct Uses {
    std::set<TempId> from_outside;
    bool calls_host = false;  // its statements are calls of libraries
  };

  Buffer& buffer(BufferId id) { return program_.buffers[static_cast<size_t>(id)]; }
  bool is_cell(const Stmt& stmt) { return stmt.address.buffer >= 0 && buffer(stmt.address.buffer).kind == BufferKind::cell; }

  // --- uses -----------------------------------------------------------------------------------------------------------

  void look_at_nest(size_t number) {
    std::set<TempId> own;
    look_at_body(program_.nests[number].body, number, own);
    for (const Stmt& stmt : program_.nests[number].body)
      if (stmt.kind == StmtKind::store && is_cell(stmt)) stores_[stmt.address.buffer].push_back(number);
    for (TempId temp : own) nests_[number].from_outside.erase(temp);
  }

  void look_at_body(const Body& body, size_t number, std::set<TempId>& own) {
    for (const Stmt& stmt : body) {
      nests_[number].from_outside.insert(stmt.args.begin(), stmt.args.end());
      nests_[number].calls_host |= !stmt.operands.empty();
      if (stmt.dst >= 0) own.insert(stmt.dst);
      if (is_cell(stmt)) ++accesses_[stmt.address.buffer];
      look_at_body(stmt.body, number, own);
    }
  }

  void look_at_block(size_t number) {
    const ProgramBlock& block = program_.blocks[number];
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body) look_at_scalar(stmt);
    used_.insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) {
        sources_[param].emplace_back(number, value);
        if (block.end != BlockEnd::jump) used_.insert(param);  // what is copied before a branch is copied on both paths
      }
  }

  void look_at_scalar(const Stmt& stmt) {
    used_.insert(stmt.args.begin(), stmt.args.end());
    if (is_cell(stmt)) ++accesses_[stmt.address.buffer];
    if (stmt.kind == StmtKind::load && is_cell(stmt) && loads_.emplace(stmt.dst, stmt.address.buffer).second) return;
    if (stmt.dst >= 0) used_.insert(stmt.dst);
  }

  // A nest stores the number, and its load follows.
  bool is_like_cell(TempId temp, BufferId cell) {
    const std::vector<size_t>& stores = stores_[cell];
    return stores.size() == 1 && accesses_[cell] == 2 && !nests_[stores.front()].from_outside.contains(temp) &&
           !is_used_by_host(temp);
  }

  bool is_used_by_host(TempId temp) const {
    return used_.contains(temp) || std::any_of(nests_.begin(), nests_.end(), [&](const Uses& nest) {
             return nest.calls_host && nest.from_outside.contains(temp);
           });
  }

  // Parameters of blocks stay on the device if one of their values is there, and no value is another such parameter: they are
  // assigned one after the other.
  bool drop_carried() {
    const auto dropped = std::find_if(carried_.begin(), carried_.end(), [&](TempId param) {
      bool has_kept = false, has_carried = false;
      for (const auto& [block, value] : sources_[param]) {
        has_kept |= kept_.contains(value);
        has_carried |= value != param && carried_.contains(value);
      }
      return !has_kept || has_carried || is_used_by_host(param);
    });
    if (dropped == carried_.end()) return false;
    carried_.erase(dropped);
    return true;
  }

  // What other parameters are assigned is used by the host.
  bool drop_kept() {
    for (const auto& [param, sources] : sources_)
      for (const auto& [block, value] : sources)
        if (!carried_.contains(param) && kept_.erase(value) > 0) return true;
    return false;
  }

  // --- changes --------------------------------------------------------------------------------------------------------

  void keep(TempId temp, BufferId cell) {
    for (ProgramBlock& block : program_.blocks) remove_load(block, temp);
    for (ProgramBlock& block : program_.blocks) load_at_exit(block, temp, cell);
    const BufferId own = memory_[temp] = add_memory(BufferKind::temp, temp, buffer(cell).name);
    Body& body = program_.nests[stores_[cell].front()].body;
    const auto store = std::find_if(body.begin(), body.end(), [&](const Stmt& stmt) {
      return stmt.kind == StmtKind::store && stmt.address.buffer == cell;
    });
    Stmt second = *store;
    second.address.buffer = own;
    body.insert(std::next(store), std::move(second));
    read_in_nests(temp, own);
  }

  // A parameter: nests of their own copy what edges assign, and what exits hand over.
  void carry(TempId param) {
    const std::string name = "t" + std::to_string(param);
    const BufferId own = add_memory(BufferKind::temp, param, name);
    read_in_nests(param, own);
    for (const auto& [number, value] : sources_[param]) {
      ProgramBlock& block = program_.blocks[number];
      std::erase_if(block.edges[0].scalars, [&](const auto& pair) { return pair.first == param; });
      if (value == param) continue;
      const auto from = memory_.find(value);
      add_copy(block, value, from == memory_.end() ? -1 : from->second, own);
    }
    for (ProgramBlock& block : program_.blocks) {
      if (std::none_of(block.outputs.begin(), block.outputs.end(), [&](const ExitOutput& o) { return o.scalar == param; }))
        continue;
      const BufferId cell = add_memory(BufferKind::cell, param, name);
      add_copy(block, param, own, cell);
      load_at_exit(block, param, cell);
    }
  }

  // Adds a nest that stores the number to `to`: what is in the buffer `from`, or without one the temp's value.
  void add_copy(ProgramBlock& block, TempId value, BufferId from, BufferId to) {
    Nest nest;
    nest.name = "number";
    nest.work = program_.dims.constant(1);
    const TempId stored = from >= 0 ? new_temp(value) : value;
    if (from >= 0) nest.body.push_back(load(stored, from));
    Stmt store;
    store.kind = StmtKind::store;
    store.dtype = program_.temps[static_cast<size_t>(value)];
    store.address = {to, program_.dims.constant(0)};
    store.args = {stored};
    nest.body.push_back(std::move(store));
    program_.nests.push_back(std::move(nest));
    block.steps.push_back({StepKind::nest, {}, static_cast<int>(program_.nests.size()) - 1, -1});
  }

  BufferId add_memory(BufferKind kind, TempId temp, std::string name) {
    const DType dtype = program_.temps[static_cast<size_t>(temp)];
    return program_.add_buffer({kind, dtype, program_.dims.constant(1), -1, std::move(name), {}, {}});
  }

  static void remove_load(ProgramBlock& block, TempId temp) {
    for (BlockStep& step : block.steps)
      std::erase_if(step.body, [&](const Stmt& stmt) { return stmt.kind == StmtKind::load && stmt.dst == temp; });
    std::erase_if(block.steps, [](const BlockStep& step) { return step.kind == StepKind::scalars && step.body.empty(); });
  }

  void load_at_exit(ProgramBlock& block, TempId temp, BufferId cell) {
    TempId loaded = -1;
    for (ExitOutput& output : block.outputs) {
      if (output.scalar != temp) continue;
      if (loaded < 0) loaded = new_temp(temp);
      output.scalar = loaded;
    }
    if (loaded < 0) return;
    if (block.steps.empty() || block.steps.back().kind != StepKind::scalars)
      block.steps.push_back({StepKind::scalars, {}, -1, -1});
    block.steps.back().body.push_back(load(loaded, cell));
  }

  void read_in_nests(TempId temp, BufferId own) {
    for (size_t k = 0; k < nests_.size(); ++k) {
      if (!nests_[k].from_outside.contains(temp)) continue;
      const TempId loaded = new_temp(temp);
      Body& body = program_.nests[k].body;
      replace(body, temp, loaded);
      body.insert(body.begin(), load(loaded, own));
    }
  }

  static void replace(Body& body, TempId from, TempId to) {
    for (Stmt& stmt : body) {
      std::replace(stmt.args.begin(), stmt.args.end(), from, to);
      replace(stmt.body, from, to);
    }
  }

  TempId new_temp(TempId like) {
    program_.temps.push_back(program_.temps[static_cast<size_t>(like)]);
    return static_cast<TempId>(program_.temps.size()) - 1;
  }

  Stmt load(TempId temp, BufferId from) {
    Stmt load;
    load.kind = StmtKind::load;
    load.dtype = program_.temps[static_cast<size_t>(temp)];
    load.address = {from, program_.dims.constant(0)};
    load.dst = temp;
    return load;
  }

  Program& program_;
  std::vector<Uses> nests_;
  std::map<TempId, BufferId> loads_;                                  // temps that a scalar step loads from a cell
  std::map<BufferId, std::vector<size_t>> stores_;                    // by cell: nests that store to it
  std::map<BufferId, int> accesses_;                                  // by cell
  std::map<TempId, std::vector<std::pair<size_t, TempId>>> sources_;  // by parameter of a block: blocks that assign it, values
  std::set<TempId> used_;                                             // by the host, other than by edges and exits
  std::map<TempId, BufferId> kept_;                                   // of loads_, those that are removed
  std::set<TempId> carried_;                                          // parameters that get memory of the device
  std::map<TempId, BufferId> memory_;                                 // by number of kept_
};

}  // namespace

Result<bool> keep_on_device(ProgramState& state) { return NumberKeeper(state.program).run(); }

}  // namespace accel
