#pragma once
// The types of rows that stand for the items of lists.

#include <optional>

#include "capture/domain/element_type.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// The type of the rows that stand for an item of a list in this state; nullopt: it cannot be a row.
std::optional<RowType> row_type(Capture& capture, const PathState& state, const Ref& item);

}  // namespace accel
