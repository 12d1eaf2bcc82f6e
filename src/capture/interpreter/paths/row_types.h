#pragma once
// Row types of list items.

#include <optional>

#include "capture/domain/element_type.h"
#include "capture/interpreter/paths/path_state.h"

namespace accel {

// The type of the row that represents a list item in this state; nullopt: it cannot be a row.
std::optional<RowType> row_type(Capture& capture, const PathState& state, const Ref& item);

}  // namespace accel
