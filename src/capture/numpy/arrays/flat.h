#pragma once
// array.flat: the elements in C order. It is kept as the bound descriptor of the attribute.

#include "capture/context/context.h"

namespace accel {

bool is_flat(const Ref& value);
// numpy.flatiter (borrowed).
PyTypeObject* flat_type();
// The array whose elements it shows.
const Ref& flat_array(const Ref& flat);

// Whether a store through flat may read what it has written: NumPy copies element by element.
inline bool is_flat_overlap(const Ref& target, const Ref& source) { return source->array.storage == target->array.storage; }
Result<Ref> flat_getitem(Capture& capture, const Ref& flat, const Ref& index);  // copies
Status flat_setitem(Capture& capture, const Ref& flat, const Ref& index, const Ref& value);

}  // namespace accel
