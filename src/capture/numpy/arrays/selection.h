#pragma once
// An index with masks or integer arrays, as NumPy reads it: which axes it takes and where the selected elements are in the
// result.

#include <vector>

#include "capture/numpy/arrays/basic_index.h"
#include "capture/protocol/operands.h"

namespace accel {

struct Selection {
  Ref view;                        // of the array, with the basic parts done
  std::vector<int> taken, others;  // axes of the view, by the advanced parts or not
  std::vector<IndexPart> parts;    // the advanced ones
  int first = 0;                   // how many others are before the selected axes in the result
  bool plain = true;               // there are no basic parts
};
Result<Selection> select(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts);

// One mask and nothing but basic parts beside it.
bool is_one_mask(const Selection& selection);
// Its predicate; will_raise where the mask does not fit the array. And the view with the mask's axes together, behind `first`
// others.
Result<Predicate> predicate_of(Capture& capture, const Selection& selection);
Ref masked_view(Capture& capture, const Selection& selection);

// The indices of the advanced parts, one per taken axis, as int64 values in range, spread to one shape.
struct Indices {
  std::vector<ValueId> values;
  std::vector<Operand> operands;  // the arrays they come from
  std::vector<Dim> shape;
};
// Leaves for the interpreter where an index is out of bounds.
Result<Indices> read_indices(Capture& capture, const Selection& selection);

// The axes of the selected elements from slowest to fastest, as NumPy's iterator walks them. Empty: C order.
Result<std::vector<uint8_t>> order_of_indices(Capture& capture, const Selection& selection,
                                              const std::vector<Operand>& operands, const std::vector<Dim>& shape);

}  // namespace accel
