#pragma once
// What a kernel with device code gets beside kernel_abi.h. Part "device_abi" of the prelude is made from this header
// (abi.cmake): from `accel_device_abi_version`, which every change increments, to the end of `extern "C"`.

#include "codegen/kernel_abi.h"

namespace accel {

constexpr int accel_device_abi_version = 3;

extern "C" {
// One launch: all memory in it is of the device, and so is what AccelRuntime::allocate gives.
struct AccelDeviceLaunch {
  AccelLaunch launch;
  const void* kernels;   // the loaded device code
  int64_t shared_bytes;  // of shared memory that a block may have
  // Starts kernel `number` of the device code in blocks of `threads` threads, which share `bytes` bytes. `arguments`: addresses
  // of its parameters. Returns 0 or status bits.
  int (*start)(const void* kernels, int number, int64_t blocks, int threads, int64_t bytes, void** arguments);
  // Memory of the host for `count` cells of 16 bytes, which kernels write. Of these the first `checks` are true, until a kernel
  // finds that a check fails. Null without memory. At most once in a launch.
  char* (*take_cells)(void* context, int count, int checks);
  // Whether the kernel takes checks to hold, without a wait: each wait tests them, and the caller does after the run.
  int64_t defers_checks;
  int64_t cells_distance;  // from the address of a cell to the one by which kernels know it
  // Returns when all kernels of the launch have ended: 0 or status bits.
  int (*wait)(void* context);
  // Copies between arrays of the device, in the order of its work. Returns 0 or status bits.
  int (*copy)(void* context, void* to, const void* from, int64_t bytes);
};
}  // extern "C"

}  // namespace accel
