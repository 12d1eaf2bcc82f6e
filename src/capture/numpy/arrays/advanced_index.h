#pragma once
// Elements at run-time indices: gathers and scatters.

#include <optional>
#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

// The number of true elements of a mask value, a NumPy scalar of int64.
ValueId count_true(Capture& capture, ValueId mask);

// Positions of the true elements of a mask value, one int64 array per axis. Their number is bound to a run-time symbol.
Result<std::vector<ValueId>> nonzero_places(Capture& capture, ValueId mask);

// An index as int64 values in [0, extent), and the condition under which it is in range; no_value if it always is.
struct CheckedIndex {
  ValueId index = no_value;
  ValueId in_range = no_value;
};
Result<CheckedIndex> checked_index(Capture& capture, const Ref& index, Dim extent);
// Exits to the interpreter unless all conditions hold.
Status require_all(Capture& capture, const std::vector<ValueId>& conditions, const char* what);

// The result of an advanced index that has `first` other axes before the selected ones: a view that moves the `fancy` leading
// axes behind them.
Ref moved_back(Capture& capture, const Ref& array, int fancy, int first);

// Stores `value` into the elements of a view at `indices` of its axes `taken`; among equal indices the last one counts. The
// value has the shape of the indices followed by that of the other axes. With a ufunc, each element becomes ufunc(element,
// value), one after the other.
Status put_elements(Capture& capture, const Ref& view, const std::vector<int>& taken, std::vector<ValueId> indices,
                    ValueId value, std::optional<Op> ufunc = std::nullopt);

// array.nonzero()
Result<Ref> nonzero_tuple(Capture& capture, const Ref& array);

}  // namespace accel
