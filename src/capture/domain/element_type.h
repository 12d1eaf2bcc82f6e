#pragma once
// The type of the rows of a dynamic list (a list whose length is known at run time only).

#include <algorithm>
#include <vector>

#include "ir/graph.h"

namespace accel {

// A number, a whole array in C order, a list of numbers of one type, or a tuple or fixed-length list whose parts are row types.
struct RowType {
  Type type;                   // of a number or an array; of a list: the array of its numbers
  std::vector<RowType> parts;  // of a tuple, or of a list that has this many items in every row
  bool is_list = false;

  bool operator==(const RowType&) const = default;
  // Whether equality of row types compares extents: some part is an array or a list of numbers.
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
