#pragma once
// out= in memory that an operand looks at as well. NumPy copies what its loop would overwrite before it is read; what the loop
// reads first it leaves where it is, and some loops then compute one element at a time, with other bits than in vectors.

#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

enum class LoopMemory {
  apart,        // no operand overlaps an out, unless it is the out
  copied,       // the loop gets copies
  overlapping,  // the loop gets memory that overlaps
  unclear,
};

// What the loop of a ufunc call gets. `iterated`: NumPy makes an iterator for the call in any case. `dtype`: of the loop;
// operands and outs of other ones are cast in buffers. May add guards.
LoopMemory loop_memory(Capture& capture, const std::vector<Operand>& operands, const std::vector<Operand>& outs, DType dtype,
                       bool iterated);

}  // namespace accel
