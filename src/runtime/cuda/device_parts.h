#pragma once
// What a CudaDevice consists of. For the files of this folder alone.

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "runtime/cuda/graphs/launch_batch.h"
#include "runtime/cuda/host_words.h"
#include "runtime/cuda/memory_pool.h"
#include "runtime/cuda/staging.h"

namespace accel {

constexpr int most_devices = 64;

// The calling thread's current stream of each device.
inline thread_local std::array<CudaStream, most_devices> current_streams{};

// What the innermost LaunchScope of the calling thread collects on each device; null where it collects nothing.
inline thread_local std::array<LaunchBatch*, most_devices> current_batches{};

struct CudaDevice::Parts {
  explicit Parts(const CudaContext& opened) : context(opened) {}

  const CudaContext context;
  std::string name;
  int architecture = 0, processors = 0, shared_bytes = 0;
  CudaEvents events{context};
  MemoryPool pool{context, events};
  HostWords words{context};
  Staging staging{context};
  std::mutex stream_mutex;
  CudaStream download_stream = nullptr;  // made when it is first needed
  LaunchCounters launch_counters;
  struct {
    std::atomic<int64_t> waits{0}, uploads{0}, downloads{0}, bytes_up{0}, bytes_down{0};
  } counters;

  CudaStream stream() const { return current_streams[context.device]; }
  LaunchBatch* batch() const { return current_batches[context.device]; }
  // As CudaDevice::submit; requires that the context is current.
  Status submit() const { return batch() != nullptr ? batch()->submit() : Status(Unit{}); }
};

}  // namespace accel
