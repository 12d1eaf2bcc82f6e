#pragma once
// Arrays made from numbers, shapes and sequences.

#include <optional>

#include "capture/protocol/operands.h"
#include "capture/protocol/primitive.h"

namespace accel {

// Whether NumPy makes an array of the object's items: tuples, lists and ranges.
bool is_array_sequence(const Ref& value);
// np.array(sequence, dtype) for nested tuples and lists of numbers and arrays, and ranges. Fresh, C order.
Result<Ref> array_of_sequence(Capture& capture, const Ref& sequence, std::optional<DType> dtype);

// np.arange of the bounds.
Result<Ref> numpy_arange(Capture& capture, PyObject* callable, const CallArguments& arguments);

// Fails where NumPy may refuse to make an array because it is too large: it has to be made by NumPy itself.
Status check_size(Capture& capture, const std::vector<Dim>& shape, DType dtype);

// A number as an element of an array of `dtype`, as assignment casts it. Fails where NumPy's cast would warn or raise.
Result<ValueId> fill_value(Capture& capture, const Operand& number, DType dtype);

}  // namespace accel
