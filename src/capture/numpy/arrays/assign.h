#pragma once
// Stores of values into arrays, as NumPy's assignments do them.

#include <string>

#include "capture/protocol/operands.h"

namespace accel {

// target[...] = value, where the mask holds if one is given (null or True: everywhere). The value is cast as `casting` allows
// and broadcast; sequences become arrays, by way of the target's dtype when casting is unsafe. Emits nothing when it fails.
Status assign(Capture& capture, const Ref& target, const Ref& value, const std::string& casting, const Ref& where = nullptr);

// The element of an array without axes, as a number: for functions that cast what they store before they look at where it goes.
// Other values as they are.
Ref number_of(Capture& capture, const Ref& value);

// A value that is stored into an array of a dtype. Sequences become arrays, by way of it when casting is unsafe.
Result<Operand> read_source(Capture& capture, const Ref& value, DType dtype, const std::string& casting);

// What where= holds: nullopt when everything is meant.
Result<std::optional<Operand>> read_mask(Capture& capture, const Ref& where);
// A mask as a value of `shape`, which it broadcasts to.
Result<ValueId> mask_value(Capture& capture, const Operand& mask, const std::vector<Dim>& shape);

// Stores a value of the array's dtype and shape. Requires StorageVersions::check_storable(). Returns the array.
Ref store_result(Capture& capture, const Ref& out, ValueId value, ValueId mask = no_value);

}  // namespace accel
