#pragma once
// What a kernel with device code gets beside kernel_abi.h. Part "device_abi" of the prelude is made from this header
// (abi.cmake): from `accel_device_abi_version`, which every change increments, to the end of `extern "C"`.

#include "codegen/kernel_abi.h"

namespace accel {

constexpr int accel_device_abi_version = 1;

extern "C" {
// One launch: all memory in it is of the device, and so is what AccelRuntime::allocate gives.
struct AccelDeviceLaunch {
  AccelLaunch launch;
  const void* module;  // the loaded device code
  // Starts kernel `number` of the device code in blocks of `threads` threads. `arguments`: addresses of its parameters. Returns
  // 0 or status bits.
  int (*start)(const void* module, int number, int64_t blocks, int threads, void** arguments);
};
}  // extern "C"

}  // namespace accel
