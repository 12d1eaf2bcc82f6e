#pragma once
// Interrupts of compiled code: exceptions that Python's signal handlers raise (Ctrl-C), and those sent to a thread.

#include <Python.h>

#include "capture/product/recipe.h"
#include "runtime/parallel.h"

namespace accel {

// The poll that the runtime calls from a kernel, and the toolchain while it compiles. Runs what the interpreter would run now
// (signal handlers, pending calls), and lets other threads have the GIL. Installed when the module is imported.
Interrupt poll_signals(int leaves);

// Called when the kernel of the calling thread can no longer be undone: from then on interrupts wait for an exit or for its
// end.
void ignore_signals();

// Callbacks and properties of a run that may be interrupted.
struct Interruptible {
  bool has_exits = false;  // has exits for interrupts
  // Called once before other threads may run while the kernel holds the GIL: keeps the objects that it uses alive. Null: they
  // are alive anyway.
  void (*hold)(void* context) = nullptr;
  // Whether the run's guards still hold. Null: they do.
  bool (*still_holds)(void* context) = nullptr;
  // Makes the stores of an exit whose outputs are written, for other threads to see. Null: there are none.
  void (*show)(void* context, int exit) = nullptr;
  void* context = nullptr;
  // Called each time before signal handlers, or other threads, may run. Null: nothing has to be done.
  void (*yield)(void* context) = nullptr;
};

// Marks the calling thread as running or compiling a kernel: only then does poll_signals use Python. `*unlocked` is the
// thread's state while it has released the GIL, else null: polls rely on it, so code of a kernel releases the GIL by
// ReleasedGil. Without an exit the exception is stored here until take() sets it.
class KernelScope {
 public:
  // Both arguments outlive it.
  KernelScope(PyThreadState** unlocked, const Interruptible& run);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

  // Sets the exception that has interrupted the run, if any, and returns whether there was one. Requires the GIL.
  bool take();
  // Called at an exit: whether the run was only asked to publish its stores, and then continues.
  bool shows_at(int exit);

 private:
  friend Interrupt poll_signals(int leaves);
  friend void ignore_signals();
  friend class ReleasedGil;
  friend class PythonScope;
  bool is_interrupted();
  bool still_holds() const;
  bool must_show();

  PyThreadState** unlocked_;
  const Interruptible& run_;
  bool can_fail_ = true, shows_ = false, was_asked_to_end_ = false, holds_ = false;
  int64_t asked_ = 0, next_show_ = 0;  // in coarse_nanoseconds
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
  KernelScope** current_;  // the thread's innermost scope
  KernelScope* outer_;
};

// Releases the GIL during its lifetime, unless the innermost scope of this thread has released it.
class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* own_ = nullptr;  // the thread's state without a scope
  PyThreadState** unlocked_;      // where the state is; null: the GIL had been released
};

// Marks the calling thread as running Python code that its kernel has called: holds the GIL, and polls ask for no kernel.
class PythonScope {
 public:
  PythonScope();
  ~PythonScope();
  PythonScope(const PythonScope&) = delete;
  PythonScope& operator=(const PythonScope&) = delete;

 private:
  KernelScope* kernel_;  // the innermost scope; null: there is none
  bool was_unlocked_;
};

// The result of `work()`, called without the GIL.
template <class Work>
auto without_gil(const Work& work) -> decltype(work()) {
  ReleasedGil released;
  return work();
}

// Sets the current exception aside during its lifetime.
class SavedException {
 public:
  SavedException() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~SavedException() {
    if (type_ != nullptr) PyErr_Restore(type_, value_, traceback_);
  }
  SavedException(const SavedException&) = delete;
  SavedException& operator=(const SavedException&) = delete;

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

// Clears the current exception after Python code that accel itself has called. One that is no Exception comes from a signal
// handler (Ctrl-C), and is raised when the thread next checks for signals.
void drop_own_error();

// Whether the exit is for interrupted runs: the exception is raised in its frames.
inline bool is_interrupt(const Exit& exit) { return exit.kind == ExitKind::resume && exit.reason == Reason::interrupted; }

// Raises the current exception in the function's frame (locals: localsplus, borrowed), for runs that have left no effects. If
// the function has handlers, the interpreter runs it from its start to where it first checks for signals: its first call or
// backward jump.
PyObject* interpret_interrupted(PyObject* function, PyObject* const* locals);

}  // namespace accel
