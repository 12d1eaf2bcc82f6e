#pragma once
// Parallel loops.

#include <cstdint>

#include "codegen/kernel_abi.h"

namespace accel {

// AccelRuntime::parallel_for (kernel_abi.h): runs region over [0, n) in chunks that are multiples of `grain`. Where `grain` is
// negative, its size counts, and each thread goes through its chunks from the last to the first. Serial on the calling thread
// when `work` is below the setting parallel_threshold, when there is one thread, or inside another parallel region. Threads
// take chunks as they get free, so a busy core does not hold the others up. Worker threads compute with the caller's
// floating-point control bits; their exception flags are added to the caller's. Returns 1 when the interrupt poll ended it:
// then some chunks have not run.
int parallel_for(AccelRegion region, void* frame, int64_t n, int64_t grain, int64_t work);

// Threads that a parallel loop of the calling thread would use now: the setting `threads`, else OMP_NUM_THREADS or
// omp_set_num_threads (threadpoolctl), else the CPUs this process may use.
int thread_count();

// Whether the run that the calling thread is in is interrupted.
enum class Interrupt : uint8_t {
  none,
  show,  // it is not, but has to publish what it has set so far, and continues
  soon,  // it can leave through an exit that its loops will reach
  now,   // it can only fail
};
// Called between chunks, a few dozen times per second. An interrupted loop stops if it would take long to end, or at once where
// the run can only fail. Null switches the poll off. It runs in the middle of a kernel, without the GIL if the kernel was
// started so. `leaves`: the run can leave from its current position, and need not fail.
void set_interrupt_poll(Interrupt (*poll)(int leaves));

// AccelRuntime::poll: whether the run is interrupted, for loops of the control flow, which may call it at any rate.
int poll_interrupt(int leaves, AccelPoll* state);
// AccelRuntime::now.
int64_t coarse_nanoseconds();

// Ends an interruption: the kernel of the calling thread has returned.
void forget_interrupt();

}  // namespace accel
