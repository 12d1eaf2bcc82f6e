#pragma once
// Which rows of memory the iterations of a nest read and store.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "schedule/program/program.h"

namespace accel {

// Iteration x of a nest touches row x + row of this memory, and no other row of it, at this place.
struct RowAccess {
  BufferId memory;
  Dim stride;  // bytes from row to row
  int64_t row;
  bool stores;
};

// A nest whose iterations each store a row of some memory, as a loop over these rows: [first, first + count).
struct RowNest {
  Body before;                      // numbers that all rows use
  std::set<BufferId> loaded_whole;  // memory that is read, but not row by row
  Dim variable;                     // counts from 0
  int64_t first = 0;
  Dim count;
  Body row;  // of iteration `variable`
  Dim work;
  std::vector<RowAccess> accesses;  // relative to the rows that are stored
};

// Bytes from row to row, of memory that nests of the program walk row by row, all of them at the same strides.
std::map<BufferId, Dim> row_strides(Program& program);

// nullopt where iterations touch memory in any other way, or at other strides than `strides` has or than they do elsewhere.
// Loops that walk several rows as one are cut at `strides`.
std::optional<RowNest> row_nest(Program& program, const Nest& nest, const std::map<BufferId, Dim>& strides);

}  // namespace accel
