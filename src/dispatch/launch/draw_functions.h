#pragma once
// The addresses of NumPy's C functions that draw numbers.

#include <vector>

namespace accel {

// By row of rng_functions.inc, and at the end the layers of normal numbers (AccelDraw), or null; empty when this process cannot
// have them: then the methods are called. Builds a shared object of NumPy's static library at the first call, through the cache
// of kernels. Requires the GIL, and may give it up meanwhile.
const std::vector<void*>& draw_functions();

}  // namespace accel
