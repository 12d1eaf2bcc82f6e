#pragma once
// What the Python side may ask of the toolchain besides compile_kernel (compiled_kernel.h).

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/notices.h"

namespace accel {

// Dependencies of kernels outside of this layer: versions of NumPy and accel. Part of every cache key. Requires to be called
// before the first compile.
void set_environment_key(std::string key);

// `find` gives the command of a compiler that a package of Python brings: a full path and leading arguments, or nothing. Called
// on any thread, without the GIL, where no other compiler is found.
void set_packaged_compiler_finder(std::vector<std::string> (*find)());

// Called a few dozen times per second by each thread that waits for the compiler. Null switches it off.
void set_wait_observer(void (*observe)());

struct CacheInfo {
  int64_t entries = 0;
  int64_t bytes = 0;
  int64_t hits = 0;  // of this process
  int64_t misses = 0;
  std::string path;
  std::string problem;  // why the cache cannot be used; "" when it can
};

CacheInfo cache_info();

// Deletes every entry; returns how many. Loaded kernels stay usable.
Result<int64_t> clear_cache();

}  // namespace accel
