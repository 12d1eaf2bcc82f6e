#pragma once
// 8-byte words of page-locked host memory that kernels write directly.

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/cuda/context.h"

namespace accel {

class HostWords {
 public:
  explicit HostWords(const CudaContext& context) : context_(context) {}

  // Words that follow one another, set to 0. Requires that the context is current, and 1 <= count <= 8192.
  Result<int64_t*> take(int count);
  void give_back(int64_t* words, int count);
  // The address by which kernels know words. Null when they are not of this device.
  char* device_address(int64_t* words);

 private:
  static constexpr int64_t page_words = 8192;
  static constexpr int sizes = 14;  // 1 to 8192

  struct Page {
    int64_t* words;
    char* address;
  };

  Result<int64_t*> cut(int size);
  Status add_page();

  const CudaContext& context_;
  std::mutex mutex_;
  std::vector<Page> pages_;
  int64_t next_ = page_words;                          // first word of the last page that was never taken
  std::array<std::vector<int64_t*>, sizes> unused_{};  // by the logarithm of their count
};

}  // namespace accel
