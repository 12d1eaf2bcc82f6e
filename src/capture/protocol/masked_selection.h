#pragma once
// Masked selections: A[mask], gathered only when its size, its memory or the positions of its elements are needed.

#include <optional>
#include <vector>

#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {

inline bool is_masked_selection(const Ref& value) { return value && value->kind == AbstractKind::masked_selection; }

// The masked selection with the elements of `value` that the predicate's mask selects.
Ref masked_selection_array(Capture& capture, ValueId value, const Predicate& predicate);
void make_masked_selection(const Ref& array, const Predicate& predicate);
// Fails if materialise would fail.
Status check_materialisable(const AbstractValue& value);
// Gathers the elements: the value becomes an ordinary array.
Status materialise(Capture& capture, const Ref& value);
// materialise() of a value and of all values in tuples and lists.
Status materialise_deep(Capture& capture, const Ref& value);

// The mask broadcast over the axes of a masked selection.
ValueId spread_mask(Capture& capture, const Predicate& predicate, const std::vector<Dim>& shape);
// Whether two graph values are computed by equal operations from the same values.
bool is_same_value(const Graph& graph, ValueId a, ValueId b);
bool is_same_predicate(const Graph& graph, const Predicate& a, const Predicate& b);

// The rank, as Python sees it, of an operand made by read_lanes.
int visible_rank(const Operand& operand);
// The predicate under which a pointwise operation on these values can be computed; nullptr if there is none. Operands may
// broadcast along the axes after the mask's; outs may not.
const Predicate* common_predicate(Capture& capture, const std::vector<Ref>& operands, const std::vector<Ref>& outs);
// read_operand(), but a masked selection is not gathered: the operand has its full shape.
Result<Operand> read_lanes(Capture& capture, const Ref& value);

}  // namespace accel
