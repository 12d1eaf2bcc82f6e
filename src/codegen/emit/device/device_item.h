#pragma once
// DeviceItem: how the function of one item of a nest is being written for a device at this point.

#include <string>
#include <utility>
#include <vector>

#include "schedule/analysis/items.h"

namespace accel {

// A reduction or list of an item whose run several blocks may share: each stores what its part comes to, then these are
// combined.
struct SharedReduction {
  const Stmt* stmt;
  std::string partial;  // type of what a part comes to
};

// Elements that several runs of an item read, at the same places of each: `load` is the first that reads them, over `variable`.
struct CachedRow {
  const Stmt* load;
  Dim variable, extent;
  int number;
};

struct DeviceItem {
  Mapping mapping = Mapping::elements;
  Items items;
  std::vector<SharedReduction> shared;  // in the order of the item's body
  std::vector<CachedRow> rows;
  Dim run_variable;                                // of the run or loop that the threads of the item share at this point
  std::vector<std::pair<Address, TempId>> stored;  // what the item has stored outside of its loops: one thread does
  int items_of_thread = 1;                         // of mapping elements
  bool has_last_phase = false;                     // a loop or a list that needs the values of all shared runs
  bool updates = false;                            // of mapping ordered: items read what they overwrite
  bool has_scan = false;                           // a thread, or blocks, accumulate its run
  bool is_alone = false;                           // inside of what a single thread computes
};

}  // namespace accel
