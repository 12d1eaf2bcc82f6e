#pragma once
// ThreadSanitizer's functions, when its run time is loaded: each CUDA thread is a thread of its own to it.

extern "C" {
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char* file, int line);
__attribute__((weak)) void __tsan_acquire(void* tag);
__attribute__((weak)) void __tsan_release(void* tag);
}

namespace emulated {

inline bool has_race_detector() { return __tsan_create_fiber != nullptr; }

// What one thread did before `release` is done for another after `acquire`.
inline void acquire(void* tag) {
  if (__tsan_acquire) __tsan_acquire(tag);
}
inline void release(void* tag) {
  if (__tsan_release) __tsan_release(tag);
}

// The driver's own memory is not the race detector's business.
class Quiet {
 public:
  Quiet() {
    if (!AnnotateIgnoreReadsBegin) return;
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
  }
  ~Quiet() {
    if (!AnnotateIgnoreReadsBegin) return;
    AnnotateIgnoreReadsEnd("", 0);
    AnnotateIgnoreWritesEnd("", 0);
  }
};

}  // namespace emulated
