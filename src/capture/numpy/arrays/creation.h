#pragma once
// Arrays made from numbers, shapes and sequences.

#include <optional>

#include "capture/protocol/operands.h"
#include "capture/protocol/primitive.h"

namespace accel {

// Whether NumPy makes an array of the object's items: true for tuples, lists and ranges.
bool is_array_sequence(const Ref& value);
// np.array(sequence, dtype) of a range or of nested tuples and lists of numbers and arrays. Fresh, in C order.
Result<Ref> array_of_sequence(Capture& capture, const Ref& sequence, std::optional<DType> dtype);

Result<Ref> numpy_arange(Capture& capture, PyObject* callable, const CallArguments& arguments);

// Fails if the array may be too large for NumPy, which then has to raise itself.
Status check_size(Capture& capture, const std::vector<Dim>& shape, DType dtype);

// A number as an element of an array of `dtype`, cast as by assignment. Fails if NumPy's cast would warn or raise.
Result<ValueId> fill_value(Capture& capture, const Operand& number, DType dtype);

}  // namespace accel
