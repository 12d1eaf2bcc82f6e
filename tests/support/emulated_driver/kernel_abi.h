#pragma once
// What the emulated driver and the modules that it loads share.

namespace emulated {

struct Triple {
  unsigned x, y, z;
};

// What one CUDA thread sees; a module has one for each thread of the host that runs its kernels.
struct ThreadState {
  Triple thread, block, block_dim, grid_dim;
  unsigned linear;  // number of the thread in its block
};

// The threads of a block that have not begun yet.
struct BlockProgress {
  unsigned next, count, done;
  unsigned one_each;      // a fiber runs one thread only
  const unsigned* order;  // in which threads begin
};

// The driver's functions that CUDA text calls.
struct DeviceCalls {
  void (*barrier)();
  // Values of the lanes of a warp, after all lanes of `mask` have called this.
  const unsigned long long* (*warp)(unsigned mask, unsigned long long value, bool is_fence);
};

// A kernel of a module, exported as emulated_kernel_NAME.
struct Kernel {
  const char* name;
  // Runs threads of a block one after the other until none is left. A barrier may switch to another fiber meanwhile.
  void (*run)(void** arguments, BlockProgress*, ThreadState*);
  int argument_count;
  const unsigned* argument_bytes;
};

constexpr unsigned most_dynamic_bytes = 232448, dynamic_redzone = 1024;
constexpr unsigned dynamic_bytes = most_dynamic_bytes + dynamic_redzone;

}  // namespace emulated
