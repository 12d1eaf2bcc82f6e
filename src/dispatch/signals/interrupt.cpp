#include "dispatch/signals/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpython/async_exception.h"
#include "cpython/bytecode/bytecode.h"
#include "cpython/frames/frame.h"
#include "cpython/function.h"

namespace accel {
namespace {

// The innermost scope of this thread; null when it neither runs nor compiles a kernel.
thread_local KernelScope* current_scope = nullptr;

constexpr int64_t show_interval = 50'000'000;  // nanoseconds

// An empty function. When it is called the interpreter does its pending work: signal handlers, pending calls, exceptions sent
// to the thread, and a switch of threads.
PyObject* empty_function() {
  static PyObject* function = nullptr;  // creating it may release the GIL
  if (function != nullptr) return function;
  PyObject* globals = PyDict_New();
  function = globals != nullptr ? PyRun_String("lambda: None", Py_eval_input, globals, globals) : nullptr;
  Py_XDECREF(globals);
  return function;
}

// Removes the empty function from the traceback.
void drop_first_traceback() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* rest = traceback != nullptr ? PyObject_GetAttrString(traceback, "tb_next") : nullptr;
  if (rest == Py_None) Py_CLEAR(rest);
  PyErr_Clear();
  if (value != nullptr) PyException_SetTraceback(value, rest != nullptr ? rest : Py_None);
  Py_XDECREF(traceback);
  PyErr_Restore(type, value, rest);
}

// Does the interpreter's pending work; false with an exception.
bool do_what_waits() {
  if (PyErr_CheckSignals() < 0) return false;
  PyObject* function = empty_function();
  PyObject* none = function != nullptr ? PyObject_CallNoArgs(function) : nullptr;
  Py_XDECREF(none);
  if (none == nullptr) drop_first_traceback();
  return none != nullptr;
}

// The main thread is the one that handles signals.
bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

}  // namespace

KernelScope::KernelScope(PyThreadState** unlocked, const Interruptible& run)
    : unlocked_(unlocked), run_(run), current_(&current_scope), outer_(*current_) {
  *current_ = this;
}

KernelScope::~KernelScope() {
  *current_ = outer_;
  if (was_asked_to_end_) forget_interrupt();
}

bool KernelScope::take() {
  if (type_ == nullptr) return false;
  PyErr_Clear();
  PyErr_Restore(std::exchange(type_, nullptr), std::exchange(value_, nullptr), std::exchange(traceback_, nullptr));
  return true;
}

ReleasedGil::ReleasedGil() : unlocked_(current_scope != nullptr ? current_scope->unlocked_ : &own_) {
  if (*unlocked_ != nullptr)
    unlocked_ = nullptr;
  else
    *unlocked_ = PyEval_SaveThread();
}

ReleasedGil::~ReleasedGil() {
  if (unlocked_ != nullptr) PyEval_RestoreThread(std::exchange(*unlocked_, nullptr));
}

PythonScope::PythonScope()
    : kernel_(std::exchange(current_scope, nullptr)), was_unlocked_(kernel_ != nullptr && *kernel_->unlocked_ != nullptr) {
  if (was_unlocked_) PyEval_RestoreThread(std::exchange(*kernel_->unlocked_, nullptr));
}

PythonScope::~PythonScope() {
  if (was_unlocked_) *kernel_->unlocked_ = PyEval_SaveThread();
  current_scope = kernel_;
}

// Without the GIL, takes it only if this thread may have something to do.
bool KernelScope::is_interrupted() {
  if (type_ != nullptr) return true;
  if (*unlocked_ != nullptr && !has_async_exception(*unlocked_) && !is_main_thread()) return false;
  PythonScope python;
  if (!std::exchange(holds_, true) && run_.hold != nullptr) run_.hold(run_.context);
  if (run_.yield != nullptr) run_.yield(run_.context);
  SavedException of_others;
  if (!do_what_waits()) PyErr_Fetch(&type_, &value_, &traceback_);
  return type_ != nullptr;
}

bool KernelScope::still_holds() const {
  if (run_.still_holds == nullptr) return true;
  PythonScope python;
  return run_.still_holds(run_.context);
}

// Whether to publish stores now: at most every 50 ms, and for a small part of the time.
bool KernelScope::must_show() {
  if (run_.show == nullptr) return false;
  const int64_t now = coarse_nanoseconds();
  if (next_show_ == 0) next_show_ = now + show_interval / 2;
  if (now < next_show_) return false;
  asked_ = now;
  return shows_ = true;
}

bool KernelScope::shows_at(int exit) {
  if (!std::exchange(shows_, false)) return false;
  {
    PythonScope python;
    run_.show(run_.context, exit);
  }
  const int64_t now = coarse_nanoseconds();
  next_show_ = now + std::max(show_interval, 20 * (now - asked_));
  return true;
}

Interrupt poll_signals(int leaves) {
  KernelScope* scope = current_scope;
  if (scope == nullptr || (!scope->can_fail_ && leaves == 0)) return Interrupt::none;
  const bool interrupted = scope->is_interrupted();
  if (!interrupted && leaves < 2) return Interrupt::none;
  if (!interrupted && scope->still_holds()) return leaves == 2 && scope->must_show() ? Interrupt::show : Interrupt::none;
  scope->was_asked_to_end_ = true;
  return leaves > 0 || scope->run_.has_exits ? Interrupt::soon : Interrupt::now;
}

void ignore_signals() {
  if (current_scope != nullptr) current_scope->can_fail_ = false;
}

// --- undone runs ----------------------------------------------------------------------------------------------------

namespace {

struct Start {
  FrameState state;  // after the instructions that create cells
  bool has_handlers = false;
};

Result<Start> start_of(PyFunctionObject* function, PyObject* const* locals) {
  PyCodeObject* code = function_code(function);
  ACCEL_TRY(Bytecode bytecode, decode(code));
  Start start;
  FrameState& state = start.state;
  start.has_handlers = !bytecode.handlers.empty();
  state.function = PyRef::borrow(reinterpret_cast<PyObject*>(function));
  state.offset = -1;
  for (size_t k = 0; k + 1 < bytecode.instructions.size() && state.offset < 0; ++k)
    if (bytecode.instructions[k].op == Opcode::resume) state.offset = bytecode.instructions[k + 1].offset;
  if (state.offset < 0) return fail(Reason::internal_error, "code without a start");
  PyObject* closure = PyFunction_GET_CLOSURE(function);
  int count = local_count(code), free = count - free_variable_count(code);
  for (int slot = 0; slot < count; ++slot) {
    PyObject* value = slot < free ? locals[slot] : PyTuple_GET_ITEM(closure, slot - free);
    bool is_cell = local_kind(code, slot) == LocalKind::cell;
    state.locals.push_back(is_cell ? PyRef::steal(PyCell_New(value)) : PyRef::borrow(value));
  }
  return start;
}

int raise_saved(void* saved) {
  delete static_cast<SavedException*>(saved);
  return -1;
}

// Defers the current exception: the interpreter raises it in this thread when it next checks for signals.
bool raise_soon() {
  if (is_main_thread()) {
    auto saved = std::make_unique<SavedException>();
    if (Py_AddPendingCall(raise_saved, saved.get()) != 0) return false;
    (void)saved.release();
    return true;
  }
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return true;
}

}  // namespace

void drop_own_error() {
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_Exception) || !raise_soon()) PyErr_Clear();
}

PyObject* interpret_interrupted(PyObject* function, PyObject* const* locals) {
  std::optional<Start> start;
  {
    SavedException interrupt;
    Result<Start> made = start_of(reinterpret_cast<PyFunctionObject*>(function), locals);
    if (made.ok()) start = std::move(made).value();
  }
  if (!start) return nullptr;
  if (!start->has_handlers) return raise_in_frame(std::move(start->state));
  return raise_soon() ? resume_frame(std::move(start->state)) : nullptr;
}

}  // namespace accel
