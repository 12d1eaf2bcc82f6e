#pragma once
// Stores of values into arrays by the rules of NumPy's assignments.

#include <string>

#include "capture/protocol/operands.h"

namespace accel {

// target[...] = value where the mask holds (null or True: everywhere). The value is cast as `casting` allows and broadcast;
// sequences become arrays, of the target's dtype if casting is unsafe. Emits nothing when it fails.
Status assign(Capture& capture, const Ref& target, const Ref& value, const std::string& casting, const Ref& where = nullptr);

// The element of a 0-d array as a number, for functions that cast the stored value before they check the index. Other values
// are returned unchanged.
Ref number_of(Capture& capture, const Ref& value);

// A value to be stored into an array of `dtype`. Sequences become arrays, of that dtype if casting is unsafe.
Result<Operand> read_source(Capture& capture, const Ref& value, DType dtype, const std::string& casting);

// The mask in a where= argument; nullopt if it means everything.
Result<std::optional<Operand>> read_mask(Capture& capture, const Ref& where);
// A mask broadcast to `shape`.
Result<ValueId> mask_value(Capture& capture, const Operand& mask, const std::vector<Dim>& shape);

// Stores a value of the array's dtype and shape. Requires StorageVersions::check_storable(). Returns the array.
Ref store_result(Capture& capture, const Ref& out, ValueId value, ValueId mask = no_value);

}  // namespace accel
