#include "schedule/memory/device_numbers.h"

#include <algorithm>
#include <map>
#include <set>
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
    for (const ProgramBlock& block : program_.blocks) look_at(block);
    bool has_changed = false;
    for (const auto& [temp, cell] : loads_)
      if (is_kept(temp, cell)) keep(temp, cell), has_changed = true;
    return has_changed;
  }

 private:
  struct Nest {
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

  void look_at(const ProgramBlock& block) {
    for (const BlockStep& step : block.steps)
      for (const Stmt& stmt : step.body) look_at_scalar(stmt);
    used_.insert(block.condition);
    for (const Edge& edge : block.edges)
      for (const auto& [param, value] : edge.scalars) used_.insert({param, value});
  }

  void look_at_scalar(const Stmt& stmt) {
    used_.insert(stmt.args.begin(), stmt.args.end());
    if (is_cell(stmt)) ++accesses_[stmt.address.buffer];
    if (stmt.kind == StmtKind::load && is_cell(stmt) && loads_.emplace(stmt.dst, stmt.address.buffer).second) return;
    if (stmt.dst >= 0) used_.insert(stmt.dst);
  }

  // A nest stores the number, its load follows, and nothing of the host's but exits uses it.
  bool is_kept(TempId temp, BufferId cell) {
    const std::vector<size_t>& stores = stores_[cell];
    if (used_.contains(temp) || stores.size() != 1 || accesses_[cell] != 2) return false;
    if (nests_[stores.front()].from_outside.contains(temp)) return false;
    return std::none_of(nests_.begin(), nests_.end(),
                        [&](const Nest& nest) { return nest.calls_host && nest.from_outside.contains(temp); });
  }

  // --- changes --------------------------------------------------------------------------------------------------------

  void keep(TempId temp, BufferId cell) {
    const bool is_read =
        std::any_of(nests_.begin(), nests_.end(), [&](const Nest& n) { return n.from_outside.contains(temp); });
    for (ProgramBlock& block : program_.blocks) remove_load(block, temp);
    for (ProgramBlock& block : program_.blocks) load_at_exit(block, temp, cell);
    if (!is_read) return;
    const Buffer of_cell = buffer(cell);
    const BufferId own = program_.add_buffer({BufferKind::temp, of_cell.dtype, of_cell.elements, -1, of_cell.name, {}, {}});
    Body& body = program_.nests[stores_[cell].front()].body;
    const auto store = std::find_if(body.begin(), body.end(), [&](const Stmt& stmt) {
      return stmt.kind == StmtKind::store && stmt.address.buffer == cell;
    });
    Stmt second = *store;
    second.address.buffer = own;
    body.insert(std::next(store), std::move(second));
    for (size_t k = 0; k < nests_.size(); ++k)
      if (nests_[k].from_outside.contains(temp)) read_in_nest(program_.nests[k].body, temp, own);
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

  void read_in_nest(Body& body, TempId temp, BufferId own) {
    const TempId loaded = new_temp(temp);
    replace(body, temp, loaded);
    body.insert(body.begin(), load(loaded, own));
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
  std::vector<Nest> nests_;
  std::map<TempId, BufferId> loads_;                // temps that a scalar step loads from a cell
  std::map<BufferId, std::vector<size_t>> stores_;  // by cell: nests that store to it
  std::map<BufferId, int> accesses_;                // by cell
  std::set<TempId> used_;                           // by the host, other than by exits
};

}  // namespace

Result<bool> keep_on_device(ProgramState& state) { return NumberKeeper(state.program).run(); }

}  // namespace accel
