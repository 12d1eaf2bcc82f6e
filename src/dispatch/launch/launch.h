#pragma once
// One launch of a native kernel from Python: the memory of its results, the calls it asks for, and the GIL meanwhile.

#include <Python.h>

#include <limits>
#include <string>
#include <vector>

#include "codegen/kernel_abi.h"
#include "dispatch/calls/boxed_calls.h"
#include "dispatch/events/event_plan.h"
#include "dispatch/exits/outputs.h"
#include "dispatch/signals/interrupt.h"

namespace accel {

// The services of a launch whose AccelLaunch::context is a ResultMemory. Lives for ever.
const AccelRuntime& launch_runtime();

// Makes the arrays and the calls that a kernel asks for, with the GIL whether the kernel runs with it or without.
class ResultMemory {
 public:
  // All outlive this; `outputs` is prepared. `calls`: null when the kernel makes none.
  ResultMemory(const OutputPlan& plan, Outputs& outputs, BoxedCalls* calls) : plan_(plan), outputs_(outputs), calls_(calls) {}
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  // A run that has the GIL releases it after a call that gives at least so many elements.
  void unlock_from(int64_t elements) { unlocks_from_ = elements; }
  // Runs the kernel; status bits of AccelStatus. `unlocked`: without the GIL.
  // An exception is set where the run was interrupted.
  int run(AccelKernel kernel, const AccelLaunch& launch, bool unlocked, const Interruptible& run);
  bool was_interrupted() const { return interrupted_; }
  // What the kernel has logged.
  std::vector<SiteEvents>& log() { return log_; }
  // Why memory could not be had; empty: it could.
  const std::string& problem() const { return problem_; }

 private:
  friend const AccelRuntime& launch_runtime();
  static void* allocate(void* context, int output, const int64_t* dims);
  void* allocate(int output, const int64_t* dims);
  static int call(void* context, int number, const void* const* operands, const int64_t* dims);
  static int64_t extent(void* context, int number, int result, int axis);
  static int receive(void* context, int number, int result, void* memory, const int64_t* dims);
  static int open_draw(void* context, int number);
  static void log_events(void* context, int site, int events);
  static void* receive_output(void* context, int number, int result, int output, const int64_t* dims);
  static int go_on(void* context, int exit);
  template <class Act>
  auto with_gil(Act act);

  const OutputPlan& plan_;
  Outputs& outputs_;
  BoxedCalls* calls_;
  PyThreadState* thread_ = nullptr;  // the calling thread's while the kernel runs without the GIL
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  int64_t unlocks_from_ = never;
  std::string problem_;
  bool interrupted_ = false;
  KernelScope* scope_ = nullptr;  // of the kernel
  std::vector<SiteEvents> log_;
};

}  // namespace accel
