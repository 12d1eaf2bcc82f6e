#include "dispatch/launch.h"

#include "dispatch/interrupt.h"
#include "dispatch/python_errors.h"
#include "runtime/runtime.h"

namespace accel {

const AccelRuntime& launch_runtime() {
  static const AccelRuntime services = [] {
    AccelRuntime made = host_runtime();
    made.allocate_output = ResultMemory::allocate;
    return made;
  }();
  return services;
}

int ResultMemory::run(AccelKernel kernel, const AccelLaunch& launch, bool unlocked) {
  KernelScope scope;
  if (!unlocked) return kernel(&launch);
  thread_ = PyEval_SaveThread();
  int status = kernel(&launch);
  PyEval_RestoreThread(std::exchange(thread_, nullptr));
  return status;
}

void* ResultMemory::allocate(void* context, int output, const int64_t* dims) {
  auto* memory = static_cast<ResultMemory*>(context);
  if (memory->thread_ == nullptr) return memory->allocate(output, dims);
  PyEval_RestoreThread(memory->thread_);
  void* made = memory->allocate(output, dims);
  memory->thread_ = PyEval_SaveThread();
  return made;
}

void* ResultMemory::allocate(int output, const int64_t* dims) {
  void* made = plan_.allocate(output, dims, outputs_);
  if (made == nullptr) problem_ = take_exception_text();
  return made;
}

}  // namespace accel
