#pragma once
// array.flat, the elements in C order: its abstract value is the bound descriptor of the attribute.

#include "capture/domain/value.h"

namespace accel {

bool is_flat(const Ref& value);
// numpy.flatiter (borrowed).
PyTypeObject* flat_type();
// The array whose elements it iterates over.
const Ref& flat_array(const Ref& flat);

}  // namespace accel
