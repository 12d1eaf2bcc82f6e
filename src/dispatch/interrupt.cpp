#include "dispatch/interrupt.h"

#include <Python.h>

namespace accel {
namespace {

thread_local bool in_kernel = false;

}  // namespace

KernelScope::KernelScope() : outer_(in_kernel) { in_kernel = true; }
KernelScope::~KernelScope() { in_kernel = outer_; }

// The exception that a signal's Python function raises stays with the thread until the kernel has returned.
bool poll_signals() {
  if (!in_kernel) return false;
  PyGILState_STATE state = PyGILState_Ensure();
  bool stop = PyErr_Occurred() != nullptr || PyErr_CheckSignals() < 0;
  PyGILState_Release(state);
  return stop;
}

void ignore_signals() { in_kernel = false; }

}  // namespace accel
