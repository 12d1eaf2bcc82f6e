#pragma once
// Fourier transforms on a device, by cuFFT. The library is loaded when it is first needed.

#include <cstdint>

#include "base/result.h"
#include "ir/dtype.h"
#include "runtime/cuda/device.h"
#include "runtime/cuda/libraries/math_library.h"

namespace accel {

// Loads cuFFT once; needs no device. Fails with no_cuda_library.
Result<MathLibraryInfo> find_cufft();

// Transforms of `count` rows of `points` points, which follow each other without gaps: complex numbers, or floats on one side,
// where the rows of complex numbers have points / 2 + 1 elements. Both sides are of one width.
struct FourierTransform {
  DType from = DType::complex128, to = DType::complex128;
  int64_t points = 0, count = 0;
  bool is_forward = true;
  bool operator<(const FourierTransform& other) const;
};

// Queues the transform in the current stream; it multiplies by no factor. `from` and `to` are aligned to complex numbers.
// Transforms of complex numbers may be in place; those to floats overwrite the elements at `from`. Needs no GIL, and must not
// be called with it. Fails with no_cuda_library, out_of_device_memory, cuda_failed.
Status transform(CudaDevice& device, const FourierTransform& transform, char* from, char* to);

}  // namespace accel
