#pragma once
// What Python's library and numbers do differently in some minor versions.

#include <Python.h>

namespace accel {

// The functions of `warnings` are defined in `_py_warnings`, and there may be filters of contexts.
inline constexpr bool has_py_warnings = PY_VERSION_HEX >= 0x030E0000;

// An operator on a complex and a real number does not make the real one complex, and products and quotients are infinite where
// an operand is (annex G of C99).
inline constexpr bool complex_keeps_reals = PY_VERSION_HEX >= 0x030E0000;

}  // namespace accel
