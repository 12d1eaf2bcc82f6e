#pragma once
// Elision: NumPy computes operators of large arrays in the memory of an operand that nobody else knows
// (numpy/_core/src/multiarray/temp_elide.c). Seen are the order of the result's memory, and of products of complex numbers the
// rounding: the temporary becomes the first operand.

#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"

namespace accel {

// The operand in whose memory left op right is computed, by a guard on its size; null where there is none, or where nobody can
// see it.
Ref elided_operand(Capture& capture, Op op, const Operand& left, const Operand& right, Temporaries temporaries);

}  // namespace accel
