#include "dispatch/events/errstate.h"

#include <Python.h>

#include "codegen/kernel_abi.h"
#include "cpython/imported.h"
#include "cpython/py_ref.h"

namespace accel {
namespace {

struct EventName {
  int bit;
  const char* key;
};

constexpr EventName event_names[] = {
    {accel_divide, "divide"}, {accel_overflow, "over"}, {accel_underflow, "under"}, {accel_invalid, "invalid"}};

// An attribute of numpy._core.umath, never released; null when there is none.
PyObject* umath_attribute(const char* name) { return imported_attribute("numpy._core.umath", name).release(); }

bool is_mode(PyObject* mode, const char* name) {
  return mode != nullptr && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, name) == 0;
}

// Reads the modes from the state that numpy.geterr() uses.
EventModes read_event_modes() {
  static PyObject* reader = umath_attribute("_get_extobj_dict");
  PyRef state = reader != nullptr ? PyRef::steal(PyObject_CallNoArgs(reader)) : PyRef();
  if (!state || !PyDict_Check(state.get())) {
    PyErr_Clear();
    return {};
  }
  EventModes modes;
  for (const EventName& event : event_names) {
    PyObject* mode = PyDict_GetItemString(state.get(), event.key);
    int& events = is_mode(mode, "ignore") ? modes.ignored : is_mode(mode, "warn") ? modes.warned : modes.acted_on;
    events |= event.bit;
  }
  return modes;
}

PyObject* state_variable() {
  static PyObject* variable = umath_attribute("_extobj_contextvar");
  return variable;
}

// numpy._core.umath._make_extobj(divide=..., ...); null with an exception.
PyRef new_state(int ignored) {
  static PyObject* maker = umath_attribute("_make_extobj");
  PyRef settings = PyRef::steal(PyDict_New()), none = PyRef::steal(PyTuple_New(0));
  for (const EventName& event : event_names) {
    PyRef mode = PyRef::steal(PyUnicode_InternFromString((ignored & event.bit) != 0 ? "ignore" : "raise"));
    if (!settings || !mode || PyDict_SetItemString(settings.get(), event.key, mode.get()) < 0) return {};
  }
  if (maker == nullptr) PyErr_SetString(PyExc_RuntimeError, "NumPy keeps its settings elsewhere");
  return PyRef::steal(maker != nullptr && none ? PyObject_Call(maker, none.get(), settings.get()) : nullptr);
}

// The immutable object with the current state; null when NumPy stores it elsewhere.
PyRef current_state() {
  PyObject* variable = state_variable();
  PyObject* state = nullptr;
  if (variable == nullptr || !PyContextVar_CheckExact(variable)) return {};
  if (PyContextVar_Get(variable, nullptr, &state) < 0) PyErr_Clear();
  return PyRef::steal(state);
}

}  // namespace

EventModes event_modes() {
  static PyRef* known = new PyRef;  // holds the object, so that its address is not reused
  static EventModes modes;
  PyRef state = current_state();
  if (!state) return read_event_modes();
  if (state.get() != known->get()) {
    modes = read_event_modes();
    *known = std::move(state);
  }
  return modes;
}

RaisingErrstate::RaisingErrstate(int ignored) {
  static PyRef* states = new PyRef[16];
  PyRef& state = states[ignored & 15];
  if (!state) state = new_state(ignored);
  if (state) token_ = PyRef::steal(PyContextVar_Set(state_variable(), state.get()));
}

RaisingErrstate::~RaisingErrstate() {
  if (token_ && PyContextVar_Reset(state_variable(), token_.get()) < 0) PyErr_Clear();
}

}  // namespace accel
