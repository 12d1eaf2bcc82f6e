#include "cpython/function.h"

#include <iterator>

#include "cpython/c_stack.h"
#include "cpython/interpreter_frame.h"
#include "cpython/py_ref.h"

namespace accel {

namespace {

#if PY_VERSION_HEX >= 0x030D0000

// CPython 3.13 does not export the vectorcall of plain functions; every new function carries it.
vectorcallfunc find_standard_vectorcall() {
  PyRef code = PyRef::steal(reinterpret_cast<PyObject*>(PyCode_NewEmpty("", "", 1)));
  PyRef globals = PyRef::steal(PyDict_New());
  if (!code || !globals) return nullptr;
  PyRef function = PyRef::steal(PyFunction_New(code.get(), globals.get()));
  return function ? reinterpret_cast<PyFunctionObject*>(function.get())->vectorcall : nullptr;
}

vectorcallfunc standard_vectorcall() {
  static vectorcallfunc found = nullptr;
  if (!found) found = find_standard_vectorcall();
  return found;
}

#else

vectorcallfunc standard_vectorcall() { return _PyFunction_Vectorcall; }

#endif

#if PY_VERSION_HEX >= 0x030C0000

// Whether a callback is registered for one of the events. A tool that was freed may have left its events on.
template <class Monitors>
bool has_listeners(PyThreadState* thread, const Monitors& monitors) {
  for (size_t event = 0; event < std::size(monitors.tools); ++event) {
    for (int tool = 0; tool < PY_MONITORING_TOOL_IDS; ++tool) {
      bool listens = (monitors.tools[event] >> tool & 1) != 0;
      if (listens && thread->interp->monitoring_callables[tool][event] != nullptr) return true;
    }
  }
  return false;
}

bool is_monitored(PyThreadState* thread, PyCodeObject* code) {
  return code->_co_monitoring && has_listeners(thread, code->_co_monitoring->active_monitors);
}

bool has_stale_instrumentation(PyThreadState* thread, PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030D0000
  return code->_co_instrumentation_version != (thread->eval_breaker & ~static_cast<uintptr_t>(0xff));
#else
  return code->_co_instrumentation_version != thread->interp->monitoring_version;
#endif
}

// Code that no tool ever touched needs the interpreter to bring it up to date only while some tool listens.
bool needs_update(PyThreadState* thread, PyCodeObject* code) {
  return has_stale_instrumentation(thread, code) && (code->_co_monitoring || has_listeners(thread, thread->interp->monitors));
}

#endif

}  // namespace

PyObject* function_with_code(PyFunctionObject* function, PyCodeObject* code) {
  if (function_code(function) == code) return Py_NewRef(function);
  PyObject *type, *value, *traceback;  // an exception that is to be raised in the frame
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* made = PyFunction_New(reinterpret_cast<PyObject*>(code), function->func_globals);
  if (made == nullptr) {
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(traceback);
    return nullptr;
  }
  PyErr_Restore(type, value, traceback);
  auto* parts = reinterpret_cast<PyFunctionObject*>(made);
  Py_SETREF(parts->func_builtins, Py_NewRef(function->func_builtins));
  Py_XSETREF(parts->func_closure, Py_XNewRef(function->func_closure));
  return made;
}

PyObject* call_original(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  vectorcallfunc call = standard_vectorcall();
  RecursionCredit credit(PyThreadState_Get(), evaluator_units);
  return call ? call(reinterpret_cast<PyObject*>(function), args, nargsf, kwnames) : nullptr;
}

bool is_watched([[maybe_unused]] PyCodeObject* code) {
  PyThreadState* thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030C0000
  return needs_update(thread, code) || is_monitored(thread, code);
#else
  return thread->cframe->use_tracing;
#endif
}

bool has_recursion_room() {
  PyThreadState* thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
  if (thread->c_recursion_remaining <= 4) return false;
#endif
  return python_recursion_left(thread) > 1;
}

bool is_generator_code(PyCodeObject* code) { return code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR); }

bool can_hand_over(PyCodeObject* code) { return (code->co_flags & CO_OPTIMIZED) && !is_generator_code(code); }

int local_count(PyCodeObject* code) { return code->co_nlocalsplus; }

PyObject* local_name(PyCodeObject* code, int slot) { return PyTuple_GET_ITEM(code->co_localsplusnames, slot); }

LocalKind local_kind(PyCodeObject* code, int slot) {
  int kind = static_cast<uint8_t>(PyBytes_AS_STRING(code->co_localspluskinds)[slot]);
  if (kind & CO_FAST_FREE) return LocalKind::free;
  return kind & CO_FAST_CELL ? LocalKind::cell : LocalKind::plain;
}

int free_variable_count(PyCodeObject* code) { return code->co_nfreevars; }

int argument_count(PyCodeObject* code) {
  return code->co_argcount + code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0) +
         ((code->co_flags & CO_VARKEYWORDS) != 0);
}

int stack_size(PyCodeObject* code) { return code->co_stacksize; }

}  // namespace accel
