#include "runtime/runtime.h"

#include <cstdlib>

#include "base/settings.h"
#include "runtime/blas_threads.h"
#include "runtime/parallel.h"
#include "runtime/result_pool.h"

namespace accel {
namespace {

constexpr size_t alignment = 64;

// Large temporaries share the pool of results: the block that one launch releases is the next one's.
void* allocate(int64_t bytes) {
  if (bytes < 0) return nullptr;
  size_t size = (static_cast<size_t>(bytes) + alignment) / alignment * alignment;  // never 0
  return size < pool_block_bytes ? std::aligned_alloc(alignment, size) : pool_allocate(size);
}

void release(void* memory) { pool_release(memory, 0); }

int64_t serial_work() { return settings().parallel_threshold; }

constexpr AccelRuntime services = [] {
  AccelRuntime made{parallel_for, allocate, release, nullptr, poll_interrupt, serial_work};
  made.now = coarse_nanoseconds;
  made.blas_threads = blas_threads;
  return made;
}();

}  // namespace

const AccelRuntime& host_runtime() { return services; }

}  // namespace accel
