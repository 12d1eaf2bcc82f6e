#pragma once
// The type of the items of a list that grows at run time.

#include <algorithm>
#include <vector>

#include "ir/graph.h"

namespace accel {

// A number, a whole array in C order, or a tuple of such and of tuples.
struct RowType {
  Type type;                   // unless it is a tuple
  std::vector<RowType> parts;  // of a tuple

  bool operator==(const RowType&) const = default;
  bool is_array() const { return parts.empty() && type.rank() > 0; }
  bool has_arrays() const {
    return is_array() || std::any_of(parts.begin(), parts.end(), [](const RowType& part) { return part.has_arrays(); });
  }
};

}  // namespace accel
