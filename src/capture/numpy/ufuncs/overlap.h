#pragma once
// Overlap of an out= array with operands in memory. NumPy copies operands that its loop would overwrite before it reads them,
// and leaves them in place where the loop reads first; some loops then compute one element at a time, with bits that differ
// from vectors.

#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

enum class LoopMemory {
  apart,        // no operand overlaps an out, except as the same array
  copied,       // the loop gets copies
  overlapping,  // the loop gets overlapping memory
  unclear,
};

// Which memory the loop of a ufunc call gets. `iterated`: NumPy always makes an iterator for the call. `dtype`: of the loop;
// operands and outs of other dtypes are cast in buffers. May add guards.
LoopMemory loop_memory(Capture& capture, const std::vector<Operand>& operands, const std::vector<Operand>& outs, DType dtype,
                       bool iterated);

}  // namespace accel
