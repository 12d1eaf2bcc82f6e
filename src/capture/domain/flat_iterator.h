#pragma once
// array.flat, the elements in C order. Its abstract value is the attribute's descriptor bound to the array.

#include "capture/domain/value.h"

namespace accel {

bool is_flat(const Ref& value);
// numpy.flatiter (borrowed).
PyTypeObject* flat_type();
// The array whose elements it iterates over.
const Ref& flat_array(const Ref& flat);

}  // namespace accel
