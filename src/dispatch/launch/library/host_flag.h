#pragma once
// HostFlag: a word of the host that kernels set, where a matrix has no solution or elements are equal.

#include "runtime/cuda/device.h"

namespace accel {

class HostFlag {
 public:
  explicit HostFlag(CudaDevice& device) : device_(device) {}
  HostFlag(const HostFlag&) = delete;
  ~HostFlag() {
    if (word_ != nullptr) device_.give_words_back(word_, 1);
  }
  Status take() {
    ACCEL_TRY(word_, device_.take_words(1));
    return Unit{};
  }
  char* address() const { return device_.device_address(word_); }
  // Waits for the kernels.
  Result<bool> read() {
    ACCEL_TRY([[maybe_unused]] Unit done, device_.wait());
    return *word_ != 0;
  }

 private:
  CudaDevice& device_;
  int64_t* word_ = nullptr;
};

}  // namespace accel
