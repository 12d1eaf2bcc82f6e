#pragma once
// The prelude: C++ text that kernels are compiled with. Each part is a file of codegen/prelude, embedded by prelude.cmake; part
// "abi" is made from kernel_abi.h.

#include <string_view>

namespace accel {

// Text of part `name` (parts.inc). Requires that it exists.
std::string_view prelude_part(std::string_view name);

}  // namespace accel
