#pragma once
// What interrupts compiled code: exceptions that Python functions of signals raise (Ctrl-C), and those sent to a thread.

#include <Python.h>

#include "capture/product/recipe.h"
#include "runtime/parallel.h"

namespace accel {

// The runtime asks through this from inside a kernel, the toolchain while it compiles. Runs what the interpreter would run now
// (functions of signals, pending calls), and lets other threads have the GIL. Installed when the module is imported.
Interrupt poll_signals(int leaves);

// The kernel that the calling thread runs cannot fail any more: what interrupts it waits for an exit, or for its end.
void ignore_signals();

// What a run that may be interrupted can do.
struct Interruptible {
  bool has_exits = false;  // for that
  // Called once before others may run while the kernel has the GIL: objects that it uses stay alive from then on. Null: they
  // do.
  void (*hold)(void* context) = nullptr;
  // Whether what was checked before the run still holds. Null: it does.
  bool (*still_holds)(void* context) = nullptr;
  // Makes the stores of an exit whose outputs are there, for others to see. Null: there are none.
  void (*show)(void* context, int exit) = nullptr;
  void* context = nullptr;
};

// While it lives, the calling thread runs a kernel or compiles one: only then does poll_signals touch Python. `*unlocked` is
// the thread's state while it has given the GIL away, else null. Without an exit the exception waits in here until take() sets
// it.
class KernelScope {
 public:
  // Both outlive it.
  KernelScope(PyThreadState** unlocked, const Interruptible& run);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

  // Sets the exception that has interrupted the run, if one has: whether it has. Requires the GIL.
  bool take();
  // At an exit: whether the run has only been asked to show what it has set. Then it goes on.
  bool shows_at(int exit);

 private:
  friend Interrupt poll_signals(int leaves);
  friend void ignore_signals();
  bool is_interrupted();
  bool still_holds() const;
  bool must_show();

  PyThreadState** unlocked_;
  const Interruptible& run_;
  bool can_fail_ = true, shows_ = false, was_asked_to_end_ = false, holds_ = false;
  int64_t asked_ = 0, next_show_ = 0;  // coarse_nanoseconds
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
  KernelScope** current_;  // of the thread
  KernelScope* outer_;
};

// Takes the current exception away for as long as it lives.
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

// After Python code that accel itself has called: clears the current exception. One that is no Exception comes from a signal's
// function (Ctrl-C), and is raised when the thread next looks for signals.
void drop_own_error();

// The exit is taken when a run is interrupted: the exception is raised in its frames.
inline bool is_interrupt(const Exit& exit) { return exit.kind == ExitKind::resume && exit.reason == Reason::interrupted; }

// Raises the current exception in the function's frame (locals: localsplus, borrowed). Where it has handlers, the interpreter
// runs it from its first instruction on, up to where it first looks for signals: at its first call or jump back. For runs that
// have left no trace.
PyObject* interpret_interrupted(PyObject* function, PyObject* const* locals);

}  // namespace accel
