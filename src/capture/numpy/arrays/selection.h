#pragma once
// An index with masks or integer arrays, as NumPy interprets it: which axes it consumes, and where the selected elements are in
// the result.

#include <vector>

#include "capture/numpy/arrays/basic_index.h"
#include "capture/protocol/operands.h"

namespace accel {

struct Selection {
  Ref view;                        // of the array, after the basic parts are applied
  std::vector<int> taken, others;  // axes of the view that advanced parts consume; all other axes
  std::vector<IndexPart> parts;    // the advanced parts
  int first = 0;                   // number of other axes before the selected ones in the result
  bool plain = true;               // there are no basic parts
};
Result<Selection> select(Capture& capture, const Ref& array, const std::vector<IndexPart>& parts);

// Whether the only advanced part is one mask.
bool is_one_mask(const Selection& selection);
// The predicate of the mask (will_raise if the mask does not fit the array), and the view with the axes that the mask covers
// moved together, after `first` other axes.
Result<Predicate> predicate_of(Capture& capture, const Selection& selection);
Ref masked_view(Capture& capture, const Selection& selection);

// The indices of the advanced parts, one per consumed axis, as int64 values in range, broadcast to one shape.
struct Indices {
  std::vector<ValueId> values;
  std::vector<Operand> operands;  // the arrays that they were computed from
  std::vector<Dim> shape;
};
// Exits to the interpreter where an index is out of bounds.
Result<Indices> read_indices(Capture& capture, const Selection& selection);

// Memory order of the selected elements, axes from slowest to fastest in NumPy's iteration order. Empty: C order.
Result<std::vector<uint8_t>> order_of_indices(Capture& capture, const Selection& selection,
                                              const std::vector<Operand>& operands, const std::vector<Dim>& shape);

}  // namespace accel
