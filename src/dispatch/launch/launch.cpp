#include "dispatch/launch/launch.h"

#include "dispatch/reports/python_errors.h"
#include "dispatch/signals/interrupt.h"
#include "ndarray/array.h"
#include "runtime/runtime.h"

namespace accel {

const AccelRuntime& launch_runtime() {
  static const AccelRuntime services = [] {
    AccelRuntime made = host_runtime();
    made.allocate_output = ResultMemory::allocate;
    made.call = ResultMemory::call;
    made.extent = ResultMemory::extent;
    made.receive = ResultMemory::receive;
    made.commit = ignore_signals;
    made.receive_output = ResultMemory::receive_output;
    made.open_draw = ResultMemory::open_draw;
    made.go_on = ResultMemory::go_on;
    made.log_events = ResultMemory::log_events;
    return made;
  }();
  return services;
}

int ResultMemory::run(AccelKernel kernel, const AccelLaunch& launch, bool unlocked, const Interruptible& run) {
  KernelScope scope(&thread_, run);
  scope_ = &scope;
  if (unlocked) thread_ = PyEval_SaveThread();
  int status = kernel(&launch);
  if (thread_ != nullptr) PyEval_RestoreThread(std::exchange(thread_, nullptr));
  interrupted_ = scope.take();
  return status;
}

void* ResultMemory::allocate(void* context, int output, const int64_t* dims) {
  PythonScope python;
  return static_cast<ResultMemory*>(context)->allocate(output, dims);
}

int ResultMemory::make_call(int number, const void* const* operands, const int64_t* dims) {
  PythonScope python;
  return calls_->call(number, operands, dims);
}

int ResultMemory::call(void* context, int number, const void* const* operands, const int64_t* dims) {
  auto* memory = static_cast<ResultMemory*>(context);
  int status = memory->make_call(number, operands, dims);
  const bool may_unlock = memory->thread_ == nullptr && memory->unlocks_from_ != never && status == 0;
  if (may_unlock && memory->calls_->elements_given(number) >= memory->unlocks_from_) memory->thread_ = PyEval_SaveThread();
  return status;
}

int64_t ResultMemory::extent(void* context, int number, int result, int axis) {
  return static_cast<ResultMemory*>(context)->calls_->extent(number, result, axis);
}

int ResultMemory::receive(void* context, int number, int result, void* memory, const int64_t* dims) {
  return static_cast<ResultMemory*>(context)->calls_->receive(number, result, memory, dims);
}

int ResultMemory::open_draw(void* context, int number) {
  PythonScope python;
  return static_cast<ResultMemory*>(context)->calls_->open_draw(number);
}

int ResultMemory::go_on(void* context, int exit) { return static_cast<ResultMemory*>(context)->scope_->shows_at(exit); }
void ResultMemory::log_events(void* context, int site, int events) {
  static_cast<ResultMemory*>(context)->log_.push_back({site, events});
}

// Makes an array that a call returned the output itself, in place of an array allocated before, if any.
void* ResultMemory::receive_output(void* context, int number, int result, int output, const int64_t* dims) {
  auto* memory = static_cast<ResultMemory*>(context);
  Outputs& outputs = memory->outputs_;
  if (PyObject* array = memory->calls_->release_result(number, result, dims)) {
    PythonScope python;
    Py_XSETREF(outputs.arrays[output], array);
    return outputs.data[output] = array_data(array);
  }
  void* made = outputs.data[output] != nullptr ? outputs.data[output] : allocate(context, output, dims);
  return made != nullptr && receive(context, number, result, made, dims) == 0 ? made : nullptr;
}

void* ResultMemory::allocate(int output, const int64_t* dims) {
  void* made = plan_.allocate(output, dims, outputs_);
  if (made == nullptr) problem_ = take_exception_text();
  return made;
}

}  // namespace accel
