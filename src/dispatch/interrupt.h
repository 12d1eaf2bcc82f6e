#pragma once
// Ctrl-C while a kernel runs.

#include <Python.h>

namespace accel {

// The runtime asks through this from inside a kernel. Installed when the module is imported.
bool poll_signals();

// Signals wait for the end of the kernel that the calling thread runs.
void ignore_signals();

// While it lives, the calling thread runs a kernel: only then does poll_signals touch Python. `*unlocked` is the thread's state
// while it has given the GIL away, else null.
class KernelScope {
 public:
  explicit KernelScope(PyThreadState** unlocked);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  PyThreadState** outer_;
};

}  // namespace accel
