#pragma once
// Copies between ordinary memory of the host and a device, through page-locked buffers that the device reads and writes.

#include <array>
#include <cstdint>
#include <mutex>

#include "runtime/cuda/context.h"

namespace accel {

// Page-locked buffers that are filled one after the other. An event says when the device has done with one.
class StagingRing {
 public:
  static constexpr int64_t buffer_bytes = int64_t{4} << 20;
  static constexpr int buffer_count = 4;

  struct Buffer {
    char* memory = nullptr;
    CudaEvent event = nullptr;
    CudaStream stream = nullptr;  // of the copies in it
    int64_t filled = 0;
    bool is_busy = false;  // the event stands for copies that may not be done
  };

  explicit StagingRing(const CudaContext& context) : context_(context) {}

  Buffer& buffer(int64_t number) { return buffers_[number % buffer_count]; }
  // Allocates a buffer if it has no memory yet, or waits for its copies.
  Status make_ready(Buffer& buffer);
  Status record(Buffer& buffer);
  Status wait(Buffer& buffer);

 private:
  const CudaContext& context_;
  std::array<Buffer, buffer_count> buffers_;
};

// Both functions require that the context is current. They hold a lock, so that copies of several threads in one direction come
// one after the other.
class Staging {
 public:
  explicit Staging(const CudaContext& context) : context_(context), up_(context), down_(context) {}

  // Returns when `from` has been read.
  Status upload(char* to, const char* from, int64_t bytes, CudaStream stream);
  // Returns when `to` is complete.
  Status download(char* to, const char* from, int64_t bytes, CudaStream stream);

 private:
  Status upload_part(char* to, const char* from, int64_t bytes, CudaStream stream);
  Status download_parts(char* to, const char* from, int64_t bytes, CudaStream stream);

  const CudaContext& context_;
  std::mutex up_mutex_, down_mutex_;
  StagingRing up_, down_;
  int64_t current_ = 0;  // number of the buffer that uploads fill
};

}  // namespace accel
