#include "dispatch/interrupt.h"

namespace accel {
namespace {

// Of the kernel that runs in this thread; null: there is none, or signals wait for its end.
thread_local PyThreadState** state_of_kernel = nullptr;

}  // namespace

KernelScope::KernelScope(PyThreadState** unlocked) : outer_(state_of_kernel) { state_of_kernel = unlocked; }
KernelScope::~KernelScope() { state_of_kernel = outer_; }

// The exception that a signal's Python function raises stays with the thread until the kernel has returned.
bool poll_signals() {
  PyThreadState** unlocked = state_of_kernel;
  if (unlocked == nullptr) return false;
  bool locked = *unlocked == nullptr;
  if (!locked) PyEval_RestoreThread(*unlocked);
  bool stop = PyErr_Occurred() != nullptr || PyErr_CheckSignals() < 0;
  if (!locked) *unlocked = PyEval_SaveThread();
  return stop;
}

void ignore_signals() { state_of_kernel = nullptr; }

}  // namespace accel
