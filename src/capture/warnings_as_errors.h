#pragma once
// WarningsAsErrors: for calls that capture makes by itself, whose warnings nobody may see.

#include <Python.h>

#include "cpython/py_ref.h"

namespace accel {

// While it lives warnings are raised as exceptions. The filters are set aside: what Python knows to have shown stays known.
class WarningsAsErrors {
 public:
  WarningsAsErrors()
      : module_(PyRef::steal(PyImport_ImportModule("warnings"))),
        filters_(PyRef::steal(module_ ? PyObject_GetAttrString(module_.get(), "filters") : nullptr)) {
    PyRef all = PyRef::steal(filters_ ? Py_BuildValue("[(sOOOi)]", "error", Py_None, PyExc_Warning, Py_None, 0) : nullptr);
    if (all) PyObject_SetAttrString(module_.get(), "filters", all.get());
    PyErr_Clear();
  }
  ~WarningsAsErrors() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (filters_) PyObject_SetAttrString(module_.get(), "filters", filters_.get());
    PyErr_Restore(type, value, traceback);
  }
  WarningsAsErrors(const WarningsAsErrors&) = delete;
  WarningsAsErrors& operator=(const WarningsAsErrors&) = delete;

 private:
  PyRef module_, filters_;
};

}  // namespace accel
