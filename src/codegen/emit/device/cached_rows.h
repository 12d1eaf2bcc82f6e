#pragma once
// Rows that an item reads more than once and caches in shared memory.

#include <vector>

#include "codegen/emit/device/device_item.h"
#include "codegen/emit/names.h"

namespace accel {

// The rows that at least two runs or loops of an item's own statements read element by element, and that the item does not
// store to.
std::vector<CachedRow> find_cached_rows(Copy& copy, const Body& body);

// The cached row that the load `load` of an item reads; null when it reads memory.
const CachedRow* cached_row_of(Copy& copy, const DeviceItem& item, const Stmt& load);

}  // namespace accel
