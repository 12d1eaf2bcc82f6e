#include "schedule/loops/fission.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "schedule/program/edit.h"
#include "schedule/program/store_order.h"

namespace accel {

namespace {

constexpr size_t most_masks = 2;

// A nest that is a chain of loops, with only scalars before each inner loop.
struct Chain {
  std::vector<const Stmt*> loops;
  const Body* innermost = nullptr;
};

std::optional<Chain> chain_of(const Nest& nest) {
  Chain out;
  out.innermost = &nest.body;
  while (!out.innermost->empty() && out.innermost->back().kind == StmtKind::loop) {
    out.loops.push_back(&out.innermost->back());
    out.innermost = &out.loops.back()->body;
  }
  if (out.loops.empty()) return std::nullopt;
  return out;
}

bool is_plain(const Stmt& stmt) { return stmt.kind == StmtKind::loop || stmt.kind == StmtKind::store || is_number(stmt.kind); }

class Splitting {
 public:
  Splitting(Program& program, const Nest& nest) : program_(program), dims_(program.dims), nest_(nest) {}

  // The nest that raises the events and the nest that stores; nullopt when the nest is not split.
  std::optional<std::pair<Nest, Nest>> run() {
    chain_ = chain_of(nest_);
    if (!chain_ || !survey(nest_.body) || !has_plain_loops() || !stores_in_order()) return std::nullopt;
    find_masks();
    if (masks_.empty() || masks_.size() > most_masks) return std::nullopt;
    const size_t buffers = program_.buffers.size(), temps = program_.temps.size();
    Nest meeting = nest_, storing = nest_;
    meeting.name = "events", storing.name = nest_.name;
    meet(meeting);
    store(storing);
    if (!is_worth_it(meeting, storing)) {
      program_.buffers.resize(buffers);
      program_.temps.resize(temps);
      return std::nullopt;
    }
    return std::pair(std::move(meeting), std::move(storing));
  }

 private:
  DType dtype(TempId temp) const { return program_.temps[static_cast<size_t>(temp)]; }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }

  bool survey(const Body& body) {
    for (const Stmt& stmt : body) {
      if (!is_plain(stmt) || (!stmt.body.empty() && &stmt != &body.back())) return false;
      if (stmt.kind == StmtKind::store) stored_.insert(stmt.address.buffer);
      if (!survey(stmt.body)) return false;
    }
    return true;
  }

  // Whether extents are the same in all iterations, and only the innermost body stores.
  bool has_plain_loops() const {
    return std::all_of(chain_->loops.begin(), chain_->loops.end(), [&](const Stmt* loop) {
      bool stores = std::any_of(loop->body.begin(), loop->body.end(), [](auto& s) { return s.kind == StmtKind::store; });
      return !dims_.has_variables(loop->extent) && (!stores || &loop->body == chain_->innermost);
    });
  }
  // Whether both halves load the same numbers: each element of an input is loaded before it is stored.
  bool stores_in_order() const {
    return std::all_of(stored_.begin(), stored_.end(), [&](BufferId id) {
      bool is_input = buffer(id).kind == BufferKind::input;
      bool has_aliases = std::any_of(program_.buffers.begin(), program_.buffers.end(), [&](const Buffer& other) {
        return other.kind == BufferKind::alias && other.binding == id;
      });
      return is_input && !has_aliases && reads_before_stores(program_.dims, nest_, {id});
    });
  }

  // Collects masks: boolean results that select between numbers.
  void find_masks() {
    std::set<TempId> computed;
    for (const Stmt& stmt : *chain_->innermost) {
      if (stmt.kind != StmtKind::compute) continue;
      computed.insert(stmt.dst);
      if (dtype(stmt.dst) == DType::bool_) continue;
      for (TempId arg : stmt.args)
        if (dtype(arg) == DType::bool_ && computed.contains(arg) && !is_mask(arg)) masks_.push_back(arg);
    }
  }
  bool is_mask(TempId temp) const { return std::find(masks_.begin(), masks_.end(), temp) != masks_.end(); }

  Body& innermost(Nest& nest) {
    Body* body = &nest.body;
    for (size_t k = 0; k < chain_->loops.size(); ++k) body = &body->back().body;
    return *body;
  }

  Address mask_address(TempId mask) {
    auto [found, is_new] = memory_.try_emplace(mask, -1);
    Dim place = dims_.constant(0), elements = dims_.constant(1);
    for (const Stmt* loop : chain_->loops) {
      place = dims_.add(dims_.mul(place, loop->extent), loop->var);
      elements = dims_.mul(elements, loop->extent);
    }
    if (is_new) found->second = program_.add_buffer({BufferKind::temp, DType::bool_, elements, -1, "mask", {}, {}});
    return {found->second, place};
  }

  void meet(Nest& nest) {
    Body& body = innermost(nest);
    std::erase_if(body, [](const Stmt& stmt) { return stmt.kind == StmtKind::store; });
    for (TempId mask : masks_) {
      Stmt stmt;
      stmt.kind = StmtKind::store;
      stmt.dtype = DType::bool_;
      stmt.args = {mask};
      stmt.address = mask_address(mask);
      body.push_back(std::move(stmt));
    }
    drop_unused(nest.body);
  }

  void store(Nest& nest) {
    for (Stmt& stmt : innermost(nest)) {
      if (!is_mask(stmt.dst)) continue;
      Stmt load;
      load.kind = StmtKind::load;
      load.dtype = DType::bool_;
      load.dst = stmt.dst;
      load.address = mask_address(stmt.dst);
      stmt = std::move(load);
    }
    silence(nest.body);
    drop_unused(nest.body);
    std::map<TempId, TempId> names;
    rename_temps(program_, nest.body, names);
  }

  void silence(Body& body) {
    for (Stmt& stmt : body) {
      if (stmt.kind == StmtKind::compute) stmt.quiet = true;
      silence(stmt.body);
    }
  }
  // Removes statements that nothing uses and that raise no events.
  void drop_unused(Body& body) {
    used_.clear();
    drop(body);
  }
  void drop(Body& body) {
    for (size_t k = body.size(); k-- > 0;) {
      Stmt& stmt = body[k];
      drop(stmt.body);
      if (stmt.dst >= 0 && !used_.contains(stmt.dst) && program_.own_events(stmt) == 0) {
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(k));
        continue;
      }
      used_.insert(stmt.args.begin(), stmt.args.end());
    }
  }
  // Compares with a backup, which reads and writes each stored element; fission loads and computes some numbers twice.
  bool is_worth_it(Nest& meeting, Nest& storing) {
    int64_t kept = 0, loaded = 0, computed = 0;
    for (BufferId id : stored_) kept += item_size(buffer(id).dtype);
    for (const Stmt& stmt : innermost(meeting))
      if (stmt.kind == StmtKind::load) loaded += item_size(stmt.dtype);
    for (const Stmt& stmt : innermost(storing)) computed += stmt.kind == StmtKind::compute;
    return loaded <= 2 * kept && computed <= kept;
  }

  Program& program_;
  DimTable& dims_;
  const Nest& nest_;
  std::optional<Chain> chain_;
  std::set<BufferId> stored_;
  std::vector<TempId> masks_;
  std::map<TempId, BufferId> memory_;
  std::set<TempId> used_;
};

bool stores_to_inputs(const Program& program, const Body& body) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    bool stores =
        stmt.kind == StmtKind::store && program.buffers[static_cast<size_t>(stmt.address.buffer)].kind == BufferKind::input;
    return stores || stores_to_inputs(program, stmt.body);
  });
}

}  // namespace

Result<bool> meet_events_first(ProgramState& state) {
  Program& program = state.program;
  if (program.records_events || program.blocks.size() != 1) return false;
  std::vector<BlockStep>& steps = program.blocks[0].steps;
  for (size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].kind != StepKind::nest) continue;
    int number = steps[k].nest;
    if (!stores_to_inputs(program, program.nests[static_cast<size_t>(number)].body)) continue;
    Nest nest = program.nests[static_cast<size_t>(number)];
    auto split = Splitting(program, nest).run();
    if (!split) return false;
    state.notes.push_back("events come first: masks are computed before anything is stored");
    program.nests[static_cast<size_t>(number)] = std::move(split->second);
    BlockStep meeting{StepKind::nest, {}, static_cast<int>(program.nests.size()), -1, {}};
    program.nests.push_back(std::move(split->first));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(k), std::move(meeting));
    return true;
  }
  return false;
}

}  // namespace accel
