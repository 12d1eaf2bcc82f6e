#pragma once
// Copies between ordinary memory of the host and a device, through page-locked buffers that the device reads and writes.

#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/cuda/context.h"

namespace accel {

// Page-locked buffers that are filled one after the other. An event says when the device has done with one.
class StagingRing {
 public:
  struct Buffer {
    char* memory = nullptr;
    CudaEvent event = nullptr;
    CudaStream stream = nullptr;  // of the copies in it
    int64_t filled = 0;
    bool is_busy = false;  // the event stands for copies that may not be done
  };

  StagingRing(const CudaContext& context, int64_t buffer_bytes, size_t count)
      : context_(context), buffer_bytes_(buffer_bytes), buffers_(count) {}

  Buffer& buffer(int64_t number) { return buffers_[static_cast<size_t>(number) % buffers_.size()]; }
  // Allocates a buffer if it has no memory yet, or waits for its copies.
  Status make_ready(Buffer& buffer);
  // The copies that `stream` has now are the last ones of the buffer.
  Status record(Buffer& buffer, CudaStream stream);
  Status wait(Buffer& buffer);

 private:
  const CudaContext& context_;
  const int64_t buffer_bytes_;
  std::vector<Buffer> buffers_;
};

// Both functions require that the context is current. They hold a lock, so that copies of several threads in one direction come
// one after the other. Threads of the pool share large copies: a single one copies a fifth of what the bus moves.
class Staging {
 public:
  explicit Staging(const CudaContext& context);

  // Returns when `from` has been read.
  Status upload(char* to, const char* from, int64_t bytes, CudaStream stream);
  // Returns when `to` is complete.
  Status download(char* to, const char* from, int64_t bytes, CudaStream stream);

 private:
  Status upload_small(char* to, const char* from, int64_t bytes, CudaStream stream);
  Status download_small(char* to, const char* from, int64_t bytes, CudaStream stream);

  const CudaContext& context_;
  std::mutex up_mutex_, down_mutex_;
  StagingRing small_up_, small_down_;
  std::vector<StagingRing> up_, down_;  // a ring for each thread that shares a copy
  int64_t current_ = 0;                 // number of the buffer that small uploads fill
};

}  // namespace accel
