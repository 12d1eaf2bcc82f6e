#include "schedule/loops/map_kernels.h"

#include <algorithm>

#include "ir/op.h"
#include "schedule/analysis/items.h"
#include "schedule/loops/element_loops.h"
#include "schedule/program/scalar_code.h"

namespace accel {

namespace {

constexpr std::ptrdiff_t most_cells = 4096;  // what HostWords gives at once

// Whether iterations of a serial loop store, so that one thread must run them all.
bool stores_in_order(const Body& body) {
  return any_statement(body, [](const Stmt& s) {
    const bool is_serial = s.kind == StmtKind::repeat || (s.kind == StmtKind::loop && s.loop_kind == LoopKind::serial);
    return s.kind == StmtKind::scatter ||
           (is_serial && any_statement(s.body, [](const Stmt& inner) { return is_store(inner.kind); }));
  });
}

// Whether threads can share part of an item.
bool has_shared_work(const DimTable& dims, const Body& body) {
  return any_statement(
      body, [&](const Stmt& s) { return (is_parallel_loop(s) || has_shared_run(s.kind)) && !dims.as_constant(s.extent); });
}

bool has_device_text(Op op) {
  return op == Op::real || op == Op::imag || *op_info(op).cuda != '\0' || *op_info(op).cpp != '\0';
}

class Mapper {
 public:
  explicit Mapper(Program& program) : program_(program), dims_(program.dims) {}

  Result<Mapping> mapping_of(const Nest& nest) {
    const bool calls = any_statement(nest.body, [](const Stmt& s) { return s.kind == StmtKind::gufunc; });
    if (calls) return Mapping::library;
    if (const char* problem = find_problem(nest.body)) return fail(Reason::not_on_device, problem);
    if (has_ordered_items(program_, nest)) return Mapping::ordered;
    const Items items = items_of(nest);
    if (stores_in_order(*items.body) || !has_shared_work(dims_, *items.body)) return Mapping::elements;
    const bool scans = any_statement(*items.body, [](const Stmt& s) { return s.kind == StmtKind::accumulate; });
    return !scans && lies_in_columns(items) ? Mapping::columns : Mapping::rows;
  }

  // Fails where the blocks have no form for the device.
  Status check_blocks() const {
    if (const char* problem = find_problem_of_blocks()) return fail(Reason::not_on_device, problem);
    return Unit{};
  }

 private:
  const char* find_problem(const Body& body) const {
    if (any_statement(body, [](const Stmt& s) { return s.kind == StmtKind::call; })) return "a loop of NumPy's";
    if (any_statement(body, [](const Stmt& s) { return s.kind == StmtKind::tile; })) return "a loop over tiles";
    const char* without_text = nullptr;
    any_statement(body, [&](const Stmt& s) {
      if (s.kind == StmtKind::compute && !has_device_text(s.op)) without_text = op_info(s.op).name;
      return false;
    });
    if (without_text != nullptr) return without_text;
    auto has_buffer = [&](BufferKind kind) {
      return any_statement(body, [&](const Stmt& s) {
        return s.address.buffer >= 0 && program_.buffers[static_cast<size_t>(s.address.buffer)].kind == kind;
      });
    };
    if (has_buffer(BufferKind::scratch)) return "a row that is computed once and used twice";
    if (any_statement(body, [&](const Stmt& s) { return !is_store(s.kind) && is_in_cell(s); }))
      return "a number that the host has stored";
    return nullptr;
  }

  // Whether neighbouring items, and not neighbouring elements of the runs, lie side by side in memory.
  bool lies_in_columns(const Items& items) {
    if (items.loops.empty() || items.body->empty()) return false;
    const Dim item = items.loops.back()->var;
    int along_items = 0, along_runs = 0;
    for (const Stmt& stmt : *items.body) {
      if (is_parallel_loop(stmt)) return false;
      if (has_shared_run(stmt.kind)) count_loads(stmt.body, item, stmt.var, along_items, along_runs);
    }
    return along_items > along_runs;
  }

  void count_loads(const Body& body, Dim item, Dim run, int& along_items, int& along_runs) {
    for (const Stmt& stmt : body) {
      if (stmt.kind == StmtKind::load) {
        along_items += is_step(stmt, item);
        along_runs += is_step(stmt, run);
      }
      count_loads(stmt.body, item, run, along_items, along_runs);
    }
  }

  // Whether the load's address moves by one element with the variable.
  bool is_step(const Stmt& load, Dim variable) {
    std::optional<Dim> step = dims_.slope(load.address.offset, *dims_.as_symbol(variable));
    return step && dims_.as_constant(*step) == item_size(load.dtype);
  }

  // Why the host cannot run the blocks: its steps may not touch memory of the device.
  const char* find_problem_of_blocks() const {
    auto touches_memory = [&](const Stmt& s) {
      return (s.kind == StmtKind::load && !is_in_cell(s)) || s.kind == StmtKind::gather || is_store(s.kind);
    };
    for (const ProgramBlock& block : program_.blocks) {
      for (const BlockStep& step : block.steps) {
        if (any_statement(step.body, touches_memory)) return "a number that the host reads from an array, or stores to one";
        if (any_statement(step.body, needs_loop_of_numpy)) return "an operation on numbers that the host has no text for";
      }
    }
    const auto cells = std::count_if(program_.buffers.begin(), program_.buffers.end(),
                                     [](const Buffer& buffer) { return buffer.kind == BufferKind::cell; });
    return cells > most_cells ? "very many numbers that the host needs" : nullptr;
  }

  bool is_in_cell(const Stmt& stmt) const {
    return stmt.address.buffer >= 0 && program_.buffers[static_cast<size_t>(stmt.address.buffer)].kind == BufferKind::cell;
  }

  Program& program_;
  DimTable& dims_;
};

}  // namespace

Result<bool> map_kernels(ProgramState& state) {
  Mapper mapper(state.program);
  ACCEL_TRY([[maybe_unused]] Unit checked, mapper.check_blocks());
  for (Nest& nest : state.program.nests) {
    ACCEL_TRY(nest.mapping, mapper.mapping_of(nest));
  }
  if (has_element_loop(state.program)) return fail(Reason::not_on_device, "a loop over single elements");
  return true;
}

}  // namespace accel
