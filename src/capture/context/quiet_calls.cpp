#include "capture/context/quiet_calls.h"

#include "cpython/imported.h"

namespace accel {

WarningsAsErrors::WarningsAsErrors()
    : module_(PyRef::steal(PyImport_ImportModule("warnings"))),
      filters_(PyRef::steal(module_ ? PyObject_GetAttrString(module_.get(), "filters") : nullptr)) {
  PyRef all = PyRef::steal(filters_ ? Py_BuildValue("[(sOOOi)]", "error", Py_None, PyExc_Warning, Py_None, 0) : nullptr);
  if (all) PyObject_SetAttrString(module_.get(), "filters", all.get());
  PyErr_Clear();
}

WarningsAsErrors::~WarningsAsErrors() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (filters_) PyObject_SetAttrString(module_.get(), "filters", filters_.get());
  PyErr_Restore(type, value, traceback);
}

EventsAsErrors::EventsAsErrors() {
  PyRef errstate = imported_attribute("numpy", "errstate");
  PyRef keywords = PyRef::steal(Py_BuildValue("{s:s}", "all", "raise"));
  PyRef none = PyRef::steal(PyTuple_New(0));
  manager_ = PyRef::steal(errstate && keywords && none ? PyObject_Call(errstate.get(), none.get(), keywords.get()) : nullptr);
  entered_ = PyRef::steal(manager_ ? PyObject_CallMethod(manager_.get(), "__enter__", nullptr) : nullptr);
  PyErr_Clear();
}

EventsAsErrors::~EventsAsErrors() {
  if (!entered_) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyRef left = PyRef::steal(PyObject_CallMethod(manager_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (!left) PyErr_Clear();
  PyErr_Restore(type, value, traceback);
}

}  // namespace accel
