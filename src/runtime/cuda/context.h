#pragma once
// The context of a device, and its events.

#include <mutex>
#include <vector>

#include "runtime/cuda/driver.h"

namespace accel {

// The primary context of a device: the one that the CUDA runtime, and so other libraries, use.
struct CudaContext {
  const CudaDriver* driver = nullptr;
  CudaContextHandle handle = nullptr;
  int device = 0;
};

// Makes a context current for the calling thread. The end of the scope restores another one that was current before, so that
// other libraries see the device that they have chosen.
class ActiveContext {
 public:
  explicit ActiveContext(const CudaContext& context);
  ~ActiveContext();
  ActiveContext(const ActiveContext&) = delete;
  ActiveContext& operator=(const ActiveContext&) = delete;

  bool ok() const { return result_ == 0; }
  Failure failure() const { return cuda_failure("cuCtxSetCurrent", result_); }

 private:
  void switch_to(const CudaContext& context);

  const CudaDriver& driver_;
  CudaContextHandle before_ = nullptr;
  bool restores_ = false;
  int result_ = 0;
};

// Events of a context, reused. All functions require that the context is current.
class CudaEvents {
 public:
  explicit CudaEvents(const CudaContext& context) : context_(context) {}

  // An event that is complete when the work that `stream` has now is done.
  Result<CudaEvent> record(CudaStream stream);
  void give_back(CudaEvent event);
  // The later work of `stream` comes after the work that `other` has now.
  Status order(CudaStream stream, CudaStream other);

 private:
  Result<CudaEvent> take();

  const CudaContext& context_;
  std::mutex mutex_;
  std::vector<CudaEvent> unused_;
};

// One of the two values that mean the legacy default stream becomes the other.
inline CudaStream plain_stream(CudaStream stream) { return stream == reinterpret_cast<CudaStream>(1) ? nullptr : stream; }

}  // namespace accel
