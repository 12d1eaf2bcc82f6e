#pragma once
// Loops that multiply complex numbers and do nothing that needs real and imaginary parts apart: vectors of whole numbers, as
// they lie in memory, need fewer moves between lanes than vectors of real parts and vectors of imaginary parts.

#include <optional>

#include "schedule/program/program.h"

namespace accel {

// The dtype of the loop's complex numbers when all its statements have a form in the prelude's part "interleaved".
std::optional<DType> interleaved_dtype(const Program& program, const Stmt& loop);

}  // namespace accel
