#pragma once
// The type of the items of a list that grows at run time.

#include <algorithm>
#include <vector>

#include "ir/graph.h"

namespace accel {

// A number, a whole array in C order, a list of numbers of one type, or a tuple or list of such and of tuples and lists.
struct RowType {
  Type type;                   // of the number, of the array, or of an array of the list's numbers
  std::vector<RowType> parts;  // of a tuple, or of a list with as many items in each row
  bool is_list = false;

  bool operator==(const RowType&) const = default;
  // Whether it says how many elements something has.
  bool has_extents() const {
    return any([](const RowType& row) { return row.parts.empty() && row.type.rank() > 0; });
  }
  bool has_arrays() const {
    return any([](const RowType& row) { return row.parts.empty() && row.type.kind == ValueKind::array; });
  }
  bool has_lists() const {
    return any([](const RowType& row) { return row.is_list; });
  }

 private:
  template <class Is>
  bool any(Is is) const {
    return is(*this) || std::any_of(parts.begin(), parts.end(), [&](const RowType& part) { return part.any(is); });
  }
};

}  // namespace accel
