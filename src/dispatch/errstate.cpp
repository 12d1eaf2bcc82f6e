#include "dispatch/errstate.h"

#include <Python.h>

#include <cstring>

#include "codegen/kernel_abi.h"
#include "cpython/py_ref.h"

namespace accel {
namespace {

struct EventName {
  int bit;
  const char* key;
};

constexpr EventName event_names[] = {
    {accel_divide, "divide"}, {accel_overflow, "over"}, {accel_underflow, "under"}, {accel_invalid, "invalid"}};

// What numpy.geterr() is made of. It reads a context variable in C.
PyObject* state_reader() {
  static PyObject* reader = [] {
    PyRef module = PyRef::steal(PyImport_ImportModule("numpy._core.umath"));
    return module ? PyObject_GetAttrString(module.get(), "_get_extobj_dict") : nullptr;
  }();
  return reader;
}

bool is_ignored(PyObject* state, const char* key) {
  PyObject* mode = PyDict_GetItemString(state, key);
  return mode != nullptr && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "ignore") == 0;
}

}  // namespace

bool events_are_ignored(int events) {
  PyObject* reader = state_reader();
  PyRef state = reader != nullptr ? PyRef::steal(PyObject_CallNoArgs(reader)) : PyRef();
  if (!state || !PyDict_Check(state.get())) {
    PyErr_Clear();
    return false;
  }
  for (const EventName& event : event_names) {
    if ((events & event.bit) != 0 && !is_ignored(state.get(), event.key)) return false;
  }
  return true;
}

}  // namespace accel
