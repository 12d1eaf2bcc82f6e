#pragma once
// Which rows an item reads more than once.

#include <vector>

#include "codegen/emit/device/device_item.h"
#include "codegen/emit/names.h"

namespace accel {

// The rows that at least two runs or loops of an item's own statements read element by element, and that the item does not
// store to.
std::vector<KeptRow> find_kept_rows(Copy& copy, const Body& body);

// The kept row that a load within the run over `variable` reads; null when it reads none.
const KeptRow* kept_row_of(Copy& copy, const DeviceItem& item, const Stmt& load);

}  // namespace accel
