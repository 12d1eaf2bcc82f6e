#pragma once
// Which rows of memory the iterations of a nest read and store.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Iteration x of a nest accesses, by one load or store, row x + `row` of this memory only.
struct RowAccess {
  BufferId memory;
  Dim stride;  // in bytes, between rows
  int64_t row;
  bool stores;
};

// A nest each of whose iterations stores one row of some memory, as a loop over these rows: [first, first + count).
struct RowNest {
  Body before;                      // scalars computed before the loop
  std::set<BufferId> loaded_whole;  // memory that is read otherwise than row by row
  Dim variable;                     // counts from 0
  int64_t first = 0;
  Dim count;
  Body row;  // the statements of iteration `variable`
  Dim work;
  std::vector<RowAccess> accesses;  // row numbers relative to the row that is stored
};

// The row stride in bytes of each memory that nests walk row by row, as long as all nests agree on it.
std::map<BufferId, Dim> row_strides(Program& program);

// nullopt when iterations access memory otherwise than by rows, or with strides that differ within the nest or from `strides`.
// A loop that walks several rows as one is split into rows by `strides`.
std::optional<RowNest> row_nest(Program& program, const Nest& nest, const std::map<BufferId, Dim>& strides);

}  // namespace accel
