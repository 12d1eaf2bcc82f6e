#pragma once

namespace accel {

// The sanitizers of GCC 12 keep locks across fork that a thread of the parent held, so a child hangs in their allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitizer_forks_badly = true;
#else
constexpr bool sanitizer_forks_badly = false;
#endif

// ThreadSanitizer takes the rest of the process to be a signal's handler when that does not return.
#if defined(__SANITIZE_THREAD__)
constexpr bool signals_end_the_process = true;
#else
constexpr bool signals_end_the_process = false;
#endif

}  // namespace accel
