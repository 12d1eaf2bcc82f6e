#include "codegen/emit/device/cached_rows.h"

#include <algorithm>
#include <set>

namespace accel {

namespace {

struct RowLoad {
  const Stmt* load;
  Dim variable, extent;
};

// The address of a load with another variable for the run.
Dim offset_over(DimTable& dims, const RowLoad& row, Dim variable) {
  return dims.substitute(row.load->address.offset, *dims.as_symbol(row.variable), variable);
}

bool reads_the_same(Copy& copy, const RowLoad& a, const RowLoad& b) {
  return a.load->address.buffer == b.load->address.buffer && a.load->dtype == b.load->dtype && a.extent == b.extent &&
         offset_over(copy.dims, a, b.variable) == b.load->address.offset;
}

void find_stores(const Program& program, const Body& body, std::set<BufferId>& stored) {
  for (const Stmt& stmt : body) {
    if (is_store(stmt.kind)) stored.insert(program.memory_of(stmt.address.buffer));
    find_stores(program, stmt.body, stored);
  }
}

// Loads of a run's own body whose address moves with the run's variable by one element.
std::vector<RowLoad> row_loads(Copy& copy, const Stmt& run) {
  std::vector<RowLoad> out;
  for (const Stmt& stmt : run.body) {
    if (stmt.kind != StmtKind::load) continue;
    std::optional<Dim> step = copy.dims.slope(stmt.address.offset, *copy.dims.as_symbol(run.var));
    if (step && copy.dims.as_constant(*step) == item_size(stmt.dtype)) out.push_back({&stmt, run.var, run.extent});
  }
  return out;
}

}  // namespace

std::vector<CachedRow> find_cached_rows(Copy& copy, const Body& body) {
  std::set<BufferId> stored;
  find_stores(copy.program, body, stored);
  std::vector<RowLoad> loads;
  std::vector<CachedRow> rows;
  for (const Stmt& stmt : body) {
    if (!is_parallel_loop(stmt) && !has_shared_run(stmt.kind)) continue;
    std::vector<RowLoad> own = row_loads(copy, stmt);
    for (const RowLoad& load : own) {
      auto is_same = [&](const RowLoad& other) { return reads_the_same(copy, other, load); };
      auto first = std::find_if(loads.begin(), loads.end(), is_same);
      if (first == loads.end() || stored.contains(copy.program.memory_of(load.load->address.buffer))) continue;
      auto is_known = [&](const CachedRow& row) { return row.load == first->load; };
      if (std::any_of(rows.begin(), rows.end(), is_known)) continue;
      rows.push_back({first->load, first->variable, first->extent, static_cast<int>(rows.size())});
    }
    loads.insert(loads.end(), own.begin(), own.end());
  }
  return rows;
}

const CachedRow* cached_row_of(Copy& copy, const DeviceItem& item, const Stmt& load) {
  if (item.run_variable.id < 0) return nullptr;
  for (const CachedRow& row : item.rows)
    if (reads_the_same(copy, {row.load, row.variable, row.extent}, {&load, item.run_variable, row.extent})) return &row;
  return nullptr;
}

}  // namespace accel
