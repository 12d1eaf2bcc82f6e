#include "runtime/cuda/context.h"

namespace accel {
namespace {

constexpr unsigned event_without_time = 2;  // CU_EVENT_DISABLE_TIMING

}  // namespace

ActiveContext::ActiveContext(const CudaContext& context) : driver_(*context.driver) {
  if (in_child_without_cuda()) {
    result_ = cuda_not_initialized;
    return;
  }
  // Asked of the driver each time: it reads a variable of the thread, and other libraries set it, too.
  result_ = driver_.cuCtxGetCurrent(&before_);
  if (result_ == 0 && before_ != context.handle) switch_to(context);
}

void ActiveContext::switch_to(const CudaContext& context) {
  result_ = driver_.cuCtxSetCurrent(context.handle);
  // A thread without a context works on device 0 for the CUDA runtime.
  restores_ = result_ == 0 && (before_ != nullptr || context.device != 0);
}

ActiveContext::~ActiveContext() {
  if (restores_) driver_.cuCtxSetCurrent(before_);
}

Result<CudaEvent> CudaEvents::take() {
  {
    std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      CudaEvent event = unused_.back();
      unused_.pop_back();
      return event;
    }
  }
  CudaEvent event = nullptr;
  ACCEL_CUDA(*context_.driver, cuEventCreate, &event, event_without_time);
  return event;
}

void CudaEvents::give_back(CudaEvent event) {
  std::lock_guard lock(mutex_);
  unused_.push_back(event);
}

Result<CudaEvent> CudaEvents::record(CudaStream stream) {
  ACCEL_TRY(CudaEvent event, take());
  if (int result = context_.driver->cuEventRecord(event, stream)) {
    give_back(event);
    return cuda_failure("cuEventRecord", result);
  }
  return event;
}

Status CudaEvents::order(CudaStream stream, CudaStream other) {
  if (stream == other) return Unit{};
  ACCEL_TRY(CudaEvent event, record(other));
  int result = context_.driver->cuStreamWaitEvent(stream, event, 0);
  give_back(event);  // the wait is for what the event stood for at the call
  if (result) return cuda_failure("cuStreamWaitEvent", result);
  return Unit{};
}

}  // namespace accel
