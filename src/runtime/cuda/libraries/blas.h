#pragma once
// Products of matrices and vectors on a device, by cuBLAS. The library is loaded when it is first needed.

#include <cstdint>

#include "base/result.h"
#include "ir/dtype.h"
#include "ir/op.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/libraries/math_library.h"

namespace accel {

// Loads cuBLAS once; needs no device. Fails with no_cuda_library.
Result<MathLibraryInfo> find_cublas();

// matmul, matvec, vecmat or vecdot of float32, float64, complex64 or complex128 in the current stream, with pointers to memory
// of the device and `dims` and `strides` as NumPy passes them to the loops of gufuncs. Computes with all digits of the dtype
// (no TF32); the same call gives the same bits on the same device. Fails with unsupported_layout when an operand has to be
// copied first (product_plan.h tells in advance), no_cuda_library, out_of_device_memory, cuda_failed.
Status call_blas(CudaDevice& device, Op op, DType dtype, char* const* pointers, const intptr_t* dims, const intptr_t* strides);

}  // namespace accel
