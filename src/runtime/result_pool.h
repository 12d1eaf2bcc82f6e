#pragma once
// Memory of results: fresh pages cost as much as computing what goes into them, so large blocks are cached and reused.
//
// Blocks of at least pool_block_bytes are mapped by the pool, others come from malloc. At most result_pool_bytes (setting) of
// released blocks are cached. Under memory pressure the system may take the pages of all but a quarter of that; each release
// unmaps blocks that were idle for some seconds; all are unmapped when memory runs out. Safe from any thread, with or without
// the GIL, and across fork.

#include <cstddef>
#include <cstdint>

namespace accel {

constexpr size_t pool_block_bytes = size_t{1} << 18;

// Uninitialised memory, or null. Blocks of the pool start at a cache line, others are aligned as malloc does it.
void* pool_allocate(size_t bytes);
// Memory filled with zero. Large blocks are fresh from the system, so pages that are not touched cost nothing.
void* pool_allocate_zeroed(size_t bytes);
// As realloc. Requires memory from one of these functions, or null.
void* pool_reallocate(void* memory, size_t bytes);
// Releases memory from one of these functions, or from malloc; null is allowed. `bytes` is a hint: the pool records the sizes
// of its blocks.
void pool_release(void* memory, size_t bytes);
// Gives all cached blocks back to the system.
void pool_trim();

struct PoolStats {
  int64_t live_blocks = 0;
  int64_t live_bytes = 0;
  int64_t kept_blocks = 0;
  int64_t kept_bytes = 0;
  int64_t reused = 0;  // allocations served from cached blocks
  int64_t mapped = 0;  // allocations served by the system
};
PoolStats pool_stats();

// What result_pool_bytes amounts to now.
int64_t pool_limit();

}  // namespace accel
