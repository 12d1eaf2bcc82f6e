// Makes CUDA text C++ for g++: included before a kernel's text. One CUDA thread is one call of the kernel's function.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <utility>

#include "kernel_abi.h"

using uint3 = emulated::Triple;
using dim3 = emulated::Triple;

namespace emulated {

// Each module has its own; none is seen by another module.
__attribute__((visibility("hidden"))) inline const DeviceCalls* calls;
__attribute__((visibility("hidden"))) inline thread_local ThreadState state;

extern "C" __attribute__((used)) inline void emulated_bind(const DeviceCalls* table) { calls = table; }
extern "C" __attribute__((used)) inline ThreadState* emulated_state() { return &state; }

// Dynamic shared memory has one name in all kernels. Behind it lies a redzone.
static_assert(dynamic_bytes == 233472);
asm(".pushsection .tbss,\"awT\",@nobits\n.balign 256\n.globl dynamic_shared\n.hidden dynamic_shared\n"
    ".type dynamic_shared,@object\n.size dynamic_shared,233472\ndynamic_shared: .zero 233472\n.popsection");
extern thread_local unsigned char dynamic_memory[] asm("dynamic_shared");
extern "C" __attribute__((used)) inline unsigned char* emulated_dynamic() { return dynamic_memory; }

template <auto K>
struct Entry;
template <class... A, void (*K)(A...)>
struct Entry<K> {
  static constexpr unsigned bytes[sizeof...(A) + 1] = {sizeof(A)...};

  template <size_t... I>
  static void call(void** arguments, std::index_sequence<I...>) {
    K(*static_cast<A*>(arguments[I])...);
  }

  __attribute__((no_sanitize("thread"))) static void run(void** arguments, BlockProgress* block, ThreadState* s) {
    while (block->next < block->count) {
      unsigned t = block->order[block->next++];
      s->linear = t;
      s->thread = {t % s->block_dim.x, t / s->block_dim.x % s->block_dim.y, t / s->block_dim.x / s->block_dim.y};
      call(arguments, std::index_sequence_for<A...>{});
      ++block->done;
      if (block->one_each) return;
    }
  }
};

}  // namespace emulated

#define EMULATED_EXPORT(scope, name)                                                                              \
  extern "C" const emulated::Kernel emulated_kernel_##name = {#name, emulated::Entry<&scope name>::run,           \
                                                              sizeof emulated::Entry<&scope name>::bytes / 4 - 1, \
                                                              emulated::Entry<&scope name>::bytes};

#define threadIdx emulated::state.thread
#define blockIdx emulated::state.block
#define blockDim emulated::state.block_dim
#define gridDim emulated::state.grid_dim
#define warpSize 32

#define __global__
#define __device__
#define __host__
#define __constant__ const
// A variable of each thread of the host, which runs one block at a time. `used`: the compiler would take one that is never
// written for 0.
#define __shared__ __attribute__((used)) thread_local
#define alignas(bytes) __attribute__((aligned(bytes)))  // g++ takes the keyword in fewer places than NVRTC
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

#include "device_functions.h"
