#pragma once
// Masked selections: A[mask] as long as its size, its memory and the positions of its elements are not needed.

#include <optional>
#include <vector>

#include "capture/protocol/operands.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {

inline bool is_masked_selection(const Ref& value) { return value && value->kind == AbstractKind::masked_selection; }

// The masked selection with the elements of `value` that the predicate's mask selects.
Ref masked_selection_array(Capture& capture, ValueId value, const Predicate& predicate);
void make_masked_selection(const Ref& array, const Predicate& predicate);
// Fails for what materialise fails for.
Status check_materialisable(const AbstractValue& value);
// Gathers the elements: from here on the value is an array like others.
Status materialise(Capture& capture, const Ref& value);
// Masked selections inside of tuples and lists, too.
Status materialise_deep(Capture& capture, const Ref& value);

// The mask spread over the axes of a masked selection.
ValueId spread_mask(Capture& capture, const Predicate& predicate, const std::vector<Dim>& shape);
// Whether two values are computed in the same way from the same values.
bool is_same_value(const Graph& graph, ValueId a, ValueId b);
bool is_same_predicate(const Graph& graph, const Predicate& a, const Predicate& b);

// The number of axes of an operand that read_lanes gave, as Python sees it.
int visible_rank(const Operand& operand);
// The predicate that a pointwise operation on these values can be done under; nullptr when there is none.
// Operands may be spread behind the mask's axes; outs may not.
const Predicate* common_predicate(Capture& capture, const std::vector<Ref>& operands, const std::vector<Ref>& outs);
// An operand as read_operand gives it, but a masked selection in its full shape.
Result<Operand> read_lanes(Capture& capture, const Ref& value);

}  // namespace accel
