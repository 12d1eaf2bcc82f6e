#pragma once
// One launch of a native kernel from Python: the memory of its results, its calls, and the GIL.

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

// The runtime of launches whose AccelLaunch::context is a ResultMemory. Never destroyed.
const AccelRuntime& launch_runtime();

// Allocates the arrays and makes the calls that a kernel requests; takes the GIL if the kernel runs without it.
class ResultMemory {
 public:
  // All arguments outlive this; `outputs` is prepared. `calls`: null when the kernel makes none.
  ResultMemory(const OutputPlan& plan, Outputs& outputs, BoxedCalls* calls) : plan_(plan), outputs_(outputs), calls_(calls) {}
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  // Makes a run that holds the GIL release it after a call that returns at least this many elements.
  void unlock_from(int64_t elements) { unlocks_from_ = elements; }
  // Runs the kernel, without the GIL if `unlocked`; returns status bits of AccelStatus. An exception is set when the run was
  // interrupted.
  int run(AccelKernel kernel, const AccelLaunch& launch, bool unlocked, const Interruptible& run);
  bool was_interrupted() const { return interrupted_; }
  // The events that the kernel has logged.
  std::vector<SiteEvents>& log() { return log_; }
  // Why an allocation failed; empty when none did.
  const std::string& problem() const { return problem_; }

 private:
  friend const AccelRuntime& launch_runtime();
  static void* allocate(void* context, int output, const int64_t* dims);
  void* allocate(int output, const int64_t* dims);
  int make_call(int number, const void* const* operands, const int64_t* dims);
  static int call(void* context, int number, const void* const* operands, const int64_t* dims);
  static int64_t extent(void* context, int number, int result, int axis);
  static int receive(void* context, int number, int result, void* memory, const int64_t* dims);
  static int open_draw(void* context, int number);
  static void log_events(void* context, int site, int events);
  static void* receive_output(void* context, int number, int result, int output, const int64_t* dims);
  static int go_on(void* context, int exit);

  const OutputPlan& plan_;
  Outputs& outputs_;
  BoxedCalls* calls_;
  PyThreadState* thread_ = nullptr;  // state of the calling thread while the kernel runs without the GIL; else null
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  int64_t unlocks_from_ = never;
  std::string problem_;
  bool interrupted_ = false;
  KernelScope* scope_ = nullptr;  // scope of the running kernel
  std::vector<SiteEvents> log_;
};

}  // namespace accel
