#pragma once
// Workspace: uninitialised memory for one call, on the stack when it is small.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace accel {

class Workspace {
 public:
  explicit Workspace(size_t words) {
    if (words > small_words) large_ = std::make_unique_for_overwrite<int64_t[]>(words);
    next_ = large_ ? large_.get() : small_;
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Takes `count` words as T (8 bytes each, trivially constructible).
  template <class T>
  T* take(size_t count) {
    static_assert(sizeof(T) == sizeof(int64_t));
    T* taken = reinterpret_cast<T*>(next_);
    next_ += count;
    return taken;
  }

 private:
  static constexpr size_t small_words = 160;
  alignas(16) int64_t small_[small_words];
  std::unique_ptr<int64_t[]> large_;
  int64_t* next_;
};

}  // namespace accel
