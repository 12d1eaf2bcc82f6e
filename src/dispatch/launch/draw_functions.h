#pragma once
// The addresses of NumPy's C functions that draw numbers.

#include <vector>

#include "base/result.h"

namespace accel {

// The functions by row of rng_functions.inc, followed by the layers of normal numbers (AccelDraw), or null. Empty when they are
// not available: then the generators' methods are called. The first call builds a shared object from NumPy's static library,
// through the kernel cache. Requires the GIL, and may release it temporarily. Reason::interrupted: an exception is set.
Result<const std::vector<void*>*> draw_functions();

}  // namespace accel
