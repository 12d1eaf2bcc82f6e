#pragma once
// Overflow of NumPy integer scalars, which warns ("overflow encountered in scalar add") where arrays wrap silently.

#include "capture/capture.h"

namespace accel {

// Whether NumPy's scalar form of `op` reports overflows of this dtype.
bool reports_overflow(Op op, DType dtype);
// Whether report_overflow knows how to see them.
bool can_see_overflow(Op op);
// Appends a node that raises the overflow event when `result` = op(operands) did not fit; all of rank 0 and one integer dtype.
void report_overflow(Capture& capture, Op op, const std::vector<ValueId>& operands, ValueId result);

}  // namespace accel
