#pragma once
// Arrays made from numbers, shapes and sequences.

#include <optional>

#include "capture/numpy_operands.h"

namespace accel {

// np.array(sequence, dtype) for nested tuples and lists of numbers and arrays. Fresh, C order.
Result<Ref> array_of_sequence(Capture& capture, const Ref& sequence, std::optional<DType> dtype);

// A number as an element of an array of `dtype`, as assignment casts it. Fails where NumPy's cast would warn or raise.
Result<ValueId> fill_value(Capture& capture, const Operand& number, DType dtype);

}  // namespace accel
