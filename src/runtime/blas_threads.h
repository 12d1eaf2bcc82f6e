#pragma once
// The threads of the BLAS that NumPy calls.

#include "codegen/kernel_abi.h"

namespace accel {

// AccelRuntime::blas_threads (kernel_abi.h).
int blas_threads(AccelLoop loop);

}  // namespace accel
