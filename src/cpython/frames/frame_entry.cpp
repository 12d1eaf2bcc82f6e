#include "cpython/frames/frame_entry.h"

#include <utility>
#include <vector>

#include "cpython/c_stack.h"
#include "cpython/function.h"
#include "cpython/py_ref.h"

namespace accel {

namespace {

// The current exception, put aside.
class SavedException {
 public:
#if PY_VERSION_HEX >= 0x030C0000
  SavedException() : raised_(PyErr_GetRaisedException()) {}
  void restore() { PyErr_SetRaisedException(std::exchange(raised_, nullptr)); }
  ~SavedException() { Py_XDECREF(raised_); }

 private:
  PyObject* raised_;
#else
  SavedException() { PyErr_Fetch(&type_, &value_, &traceback_); }
  void restore() {
    PyErr_Restore(std::exchange(type_, nullptr), std::exchange(value_, nullptr), std::exchange(traceback_, nullptr));
  }
  ~SavedException() {
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(traceback_);
  }

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
#endif
  SavedException(const SavedException&) = delete;
};

// The limits of recursion may be set so high that the C stack ends first.
bool stack_exhausted() {
  if (stack_bytes_left() > stack_reserve / 8) return false;
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
  return true;
}

// --- arguments that bind to any signature -------------------------------------------------------------------------------

// None for every parameter: the locals are replaced before the frame runs.
struct PlaceholderArguments {
  std::vector<PyObject*> values;
  PyRef names;
  int positional = 0;
  bool ok = true;

  explicit PlaceholderArguments(PyCodeObject* code)
      : values(static_cast<size_t>(code->co_argcount + code->co_kwonlyargcount), Py_None), positional(code->co_argcount) {
    if (code->co_kwonlyargcount == 0) return;
    names = PyRef::steal(
        PyTuple_GetSlice(code->co_localsplusnames, code->co_argcount, code->co_argcount + code->co_kwonlyargcount));
    ok = static_cast<bool>(names);
  }
};

}  // namespace

PyObject* evaluate(PyThreadState* thread, InterpreterFrame* frame, bool raise) {
  RecursionCredit credit(thread, evaluator_units);
  return _PyEval_EvalFrameDefault(thread, frame, raise);
}

#if PY_VERSION_HEX >= 0x030D0000

namespace {

// The function and the arguments are consumed.
InterpreterFrame* push_frame(PyThreadState* thread, PyFunctionObject* function, const PlaceholderArguments& arguments) {
  const auto positional = static_cast<size_t>(arguments.positional);
  std::vector<Slot> values;
  for (PyObject* value : arguments.values) values.push_back(slot_of(Py_NewRef(value)));
  PyObject* consumed = Py_NewRef(reinterpret_cast<PyObject*>(function));
#if PY_VERSION_HEX >= 0x030E0000
  return _PyEvalFramePushAndInit(thread, slot_of(consumed), nullptr, values.data(), positional, arguments.names.get(), nullptr);
#else
  return _PyEvalFramePushAndInit(thread, reinterpret_cast<PyFunctionObject*>(consumed), nullptr, values.data(), positional,
                                 arguments.names.get());
#endif
}

}  // namespace

PyObject* enter_frame(PyFunctionObject* function, EntryBody body, void* context) {
  if (stack_exhausted()) return nullptr;
  SavedException saved;
  PlaceholderArguments arguments(function_code(function));
  if (!arguments.ok) return nullptr;
  PyThreadState* thread = PyThreadState_Get();
  InterpreterFrame* frame = push_frame(thread, function, arguments);
  if (!frame) return nullptr;
  saved.restore();
  return body(thread, frame, context);
}

#else

namespace {

// The frame that this thread waits for. The hook is installed only while the function's own vectorcall binds the placeholders,
// which neither runs Python code nor gives up the GIL: the frame that comes is ours.
struct Awaited {
  PyFunctionObject* function;
  EntryBody body;
  void* context;
  SavedException* saved;
  _PyFrameEvalFunction previous;
  bool collector_was_on;
  bool came = false;
};

thread_local Awaited* awaited = nullptr;

void uninstall(PyThreadState* thread, Awaited& entry) {
  _PyInterpreterState_SetEvalFrameFunc(thread->interp, entry.previous);
  awaited = nullptr;
  if (entry.collector_was_on) PyGC_Enable();
}

PyObject* one_shot_hook(PyThreadState* thread, InterpreterFrame* frame, int throwflag) {
  Awaited* entry = awaited;
  bool ours = entry && !throwflag && frame_function(frame) == reinterpret_cast<PyObject*>(entry->function);
  if (!ours) return (entry ? entry->previous : _PyEval_EvalFrameDefault)(thread, frame, throwflag);
  entry->came = true;
  uninstall(thread, *entry);
  entry->saved->restore();
  return entry->body(thread, frame, entry->context);
}

}  // namespace

PyObject* enter_frame(PyFunctionObject* function, EntryBody body, void* context) {
  if (stack_exhausted()) return nullptr;
  SavedException saved;
  PyCodeObject* code = function_code(function);
  PlaceholderArguments arguments(code);
  if (!arguments.ok) return nullptr;
  PyThreadState* thread = PyThreadState_Get();
  // On 3.11 making the dict of **kwargs may start a collection, whose finalizers are Python code.
  bool collects = PY_VERSION_HEX < 0x030C0000 && (code->co_flags & CO_VARKEYWORDS);
  Awaited entry{
      function, body, context, &saved, _PyInterpreterState_GetEvalFrameFunc(thread->interp), collects && PyGC_Disable()};
  awaited = &entry;
  _PyInterpreterState_SetEvalFrameFunc(thread->interp, one_shot_hook);
  PyObject* result = _PyFunction_Vectorcall(reinterpret_cast<PyObject*>(function), arguments.values.data(),
                                            static_cast<size_t>(arguments.positional), arguments.names.get());
  if (!entry.came) uninstall(thread, entry);
  return result;
}

#endif

}  // namespace accel
