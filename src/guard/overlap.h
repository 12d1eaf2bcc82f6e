#pragma once
// Whether arrays share memory.

#include "ndarray/array.h"

namespace accel {

// Whether a byte belongs to elements of both arrays. Exact, except that hard cases count as shared.
bool share_memory(const ArrayLayout& a, const ArrayLayout& b);

// Whether no two elements of the array share memory, as far as the strides show: false for windows that slide over each other
// and for broadcast arrays, also those that NumPy only suspects to be (it warns of a store).
bool has_distinct_elements(const ArrayLayout& array);

}  // namespace accel
