#pragma once
// Overflow of NumPy integer scalars, which warns ("overflow encountered in scalar add") where arrays wrap silently.

#include "capture/context/context.h"

namespace accel {

// Whether NumPy's scalar form of `op` reports overflows of this dtype.
bool reports_overflow(Op op, DType dtype);
// Appends a node that raises the overflow event when op(operands), of rank 0 and integer `dtype`, does not fit.
void report_overflow(Capture& capture, Op op, const std::vector<ValueId>& operands, DType dtype);

}  // namespace accel
