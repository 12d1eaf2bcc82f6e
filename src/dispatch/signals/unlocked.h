#pragma once
// Work without the GIL that may be interrupted.

#include <Python.h>

#include <utility>

#include "base/result.h"
#include "dispatch/signals/interrupt.h"

namespace accel {

// The Result of `work()`, called without the GIL. It may poll for interrupts: a scope of its own says that the GIL is released,
// whatever kernel this thread runs. Requires the GIL. Reason::interrupted: an exception is set.
template <class Work>
auto call_unlocked(const Work& work) -> decltype(work()) {
  PyThreadState* thread = nullptr;
  const Interruptible interruptible;
  KernelScope scope(&thread, interruptible);
  thread = PyEval_SaveThread();
  auto result = work();
  PyEval_RestoreThread(std::exchange(thread, nullptr));
  if (scope.take()) return fail(Reason::interrupted, {});
  return result;
}

}  // namespace accel
