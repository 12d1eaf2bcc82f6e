#pragma once
// A thread of the host that runs blocks, one at a time. A fiber runs CUDA threads one after the other until one of them must
// wait for others; then another fiber goes on.

#include "emulator.h"

namespace emulated {

struct Fiber {
  char* stack;
  void *stack_pointer, *race_fiber;
  unsigned linear, mask, fences;
  Triple thread;
  unsigned long long value, result[32];
};

class Worker {
 public:
  // Prepares for the blocks of a kernel. `order`: of the threads in a block.
  void begin(const Kernel* kernel, void** arguments, ThreadState* state, const std::vector<unsigned>& order, unsigned seed);
  int run_block(Triple at);

  // For the fibers.
  void run_threads();
  void wait_for_block();
  const unsigned long long* wait_for_lanes(unsigned mask, unsigned long long value, bool is_fence);

  // Leaves the block because of a signal. False when no kernel runs.
  bool leave(int signal, void* address);

 private:
  void prepare(Fiber* fiber);
  Fiber* new_fiber();
  Fiber* next_fiber();
  void switch_fiber();
  void suspend();
  void release_barrier();
  bool has_lanes(unsigned mask, unsigned base) const;
  void hand_out_values(unsigned mask, unsigned base, Fiber* self);
  int fail_block(Triple at);

  BlockProgress block_{};
  ThreadState* state_ = nullptr;
  const Kernel* kernel_ = nullptr;
  void** arguments_ = nullptr;
  std::mt19937 random_;

  Fiber* current_ = nullptr;
  void *main_stack_pointer_ = nullptr, *main_race_fiber_ = nullptr;
  std::vector<Fiber*> fibers_, idle_, waiting_, lanes_;
  std::deque<Fiber*> ready_;

  void* jump_[5];   // of __builtin_setjmp, which sanitizers of the host do not know
  int signal_ = 0;  // that ended the block
  bool is_running_ = false;
  char* fault_ = nullptr;

  char block_begins_, block_ends_, barrier_tags_[2], warp_tags_[32][2];  // for the race detector
  unsigned barriers_ = 0;
};

// The calling thread is a worker in this scope.
class WorkerScope {
 public:
  WorkerScope();
  ~WorkerScope();
  Worker& worker() { return *worker_; }

 private:
  Worker* worker_;
};
void catch_signals();
void use_signal_stack();

inline char launch_begins, launch_ends;  // for the race detector

}  // namespace emulated
