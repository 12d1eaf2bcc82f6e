#pragma once
// Common to reads and writes through array.flat.

#include "capture/context/context.h"
#include "capture/domain/flat_iterator.h"
#include "capture/protocol/numpy_calls.h"

namespace accel {

// Whether a store through flat may read elements that it has written: NumPy copies element by element.
inline bool is_flat_overlap(const Ref& target, const Ref& source) { return source->array.storage == target->array.storage; }

}  // namespace accel
