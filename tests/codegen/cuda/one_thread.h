// CUDA text as C++ for g++, put in front of it with -include: a kernel is a function, one call of which is one thread of a
// block of 256. For kernels whose threads do not work together.
#pragma once
#include <math.h>
#include <string.h>
struct Coordinates {
  unsigned x, y, z;
};
static Coordinates threadIdx = {0, 0, 0}, blockIdx = {0, 0, 0}, blockDim = {256, 1, 1};
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
static inline void __syncthreads() {}
static inline void __syncwarp() {}
template <class T>
T __shfl_xor_sync(unsigned, T, int);
template <class T>
T __shfl_sync(unsigned, T, int);
