#pragma once
// Elision: NumPy computes operators of large arrays in the memory of an operand without other references
// (numpy/_core/src/multiarray/temp_elide.c). It is visible in the memory order of the result and in the rounding of complex
// products, where the temporary becomes the first operand.

#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"

namespace accel {

// The operand whose memory NumPy uses for left op right, by a guard on its size; null if there is none, or if it is not
// visible.
Ref elided_operand(Capture& capture, Op op, const Operand& left, const Operand& right, Temporaries temporaries);

}  // namespace accel
