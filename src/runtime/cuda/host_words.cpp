#include "runtime/cuda/host_words.h"

#include <algorithm>
#include <bit>
#include <string>

namespace accel {
namespace {

constexpr unsigned portable_and_mapped = 1 | 2;  // CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP

int size_of(int count) { return std::bit_width(static_cast<unsigned>(count - 1)); }

}  // namespace

Result<int64_t*> HostWords::take(int count) {
  if (count < 1 || count > page_words) return fail(Reason::internal_error, std::to_string(count) + " host words");
  int size = size_of(count);
  std::lock_guard lock(mutex_);
  int64_t* words = nullptr;
  if (auto& unused = unused_[size]; !unused.empty()) {
    words = unused.back();
    unused.pop_back();
  } else {
    ACCEL_TRY(words, cut(size));
  }
  std::fill_n(words, count, 0);
  return words;
}

// Words that were never taken. What is left of a page that has no room for them is not used.
Result<int64_t*> HostWords::cut(int size) {
  int64_t count = int64_t{1} << size;
  if (next_ + count > page_words) {
    ACCEL_TRY([[maybe_unused]] Unit added, add_page());
  }
  int64_t* words = pages_.back().words + next_;
  next_ += count;
  return words;
}

Status HostWords::add_page() {
  void* memory = nullptr;
  ACCEL_CUDA(*context_.driver, cuMemHostAlloc, &memory, page_words * sizeof(int64_t), portable_and_mapped);
  Page page{static_cast<int64_t*>(memory), nullptr};
  ACCEL_CUDA(*context_.driver, cuMemHostGetDevicePointer, &page.address, memory, 0);
  pages_.push_back(page);
  next_ = 0;
  return Unit{};
}

void HostWords::give_back(int64_t* words, int count) {
  if (!words) return;
  std::lock_guard lock(mutex_);
  unused_[size_of(count)].push_back(words);
}

char* HostWords::device_address(int64_t* words) {
  std::lock_guard lock(mutex_);
  for (const Page& page : pages_)
    if (words >= page.words && words < page.words + page_words)
      return page.address + (words - page.words) * static_cast<int64_t>(sizeof(int64_t));
  return nullptr;
}

}  // namespace accel
