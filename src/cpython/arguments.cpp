#include "cpython/arguments.h"

#include "cpython/function.h"

namespace accel {

namespace {

// Position of keyword `name` among the parameters that keywords may name; -1: none, -2: the comparison needs Python code.
int find_parameter(PyCodeObject* code, PyObject* name) {
  int end = code->co_argcount + code->co_kwonlyargcount;
  for (int i = code->co_posonlyargcount; i < end; ++i)
    if (local_name(code, i) == name) return i;
  if (!PyUnicode_CheckExact(name)) return -2;
  for (int i = code->co_posonlyargcount; i < end; ++i)
    if (PyUnicode_Compare(local_name(code, i), name) == 0) return i;
  return -1;
}

}  // namespace

bool BoundArguments::own(PyObject* made, int slot) {
  if (!made) {
    PyErr_Clear();
    return false;
  }
  owned_.push_back(PyRef::steal(made));
  locals_[static_cast<size_t>(slot)] = made;
  return true;
}

bool BoundArguments::bind_positional(PyCodeObject* code, PyObject* const* args, Py_ssize_t given) {
  Py_ssize_t named = given < code->co_argcount ? given : code->co_argcount;
  for (Py_ssize_t i = 0; i < named; ++i) locals_[static_cast<size_t>(i)] = args[i];
  if (!(code->co_flags & CO_VARARGS)) return given <= code->co_argcount;
  PyObject* rest = PyTuple_New(given - named);
  for (Py_ssize_t i = named; rest && i < given; ++i) PyTuple_SET_ITEM(rest, i - named, Py_NewRef(args[i]));
  return own(rest, code->co_argcount + code->co_kwonlyargcount);
}

bool BoundArguments::bind_keywords(PyCodeObject* code, PyObject* const* values, PyObject* kwnames) {
  PyObject* rest = nullptr;  // borrowed
  if (code->co_flags & CO_VARKEYWORDS) {
    if (!own(PyDict_New(), argument_count(code) - 1)) return false;
    rest = owned_.back().get();
  }
  for (Py_ssize_t i = 0, count = kwnames ? PyTuple_GET_SIZE(kwnames) : 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, i);
    int slot = find_parameter(code, name);
    if (slot >= 0) {
      if (locals_[static_cast<size_t>(slot)]) return false;
      locals_[static_cast<size_t>(slot)] = values[i];
    } else if (slot == -2 || !rest) {
      return false;
    } else if (PyDict_SetItem(rest, name, values[i]) < 0) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

bool BoundArguments::bind_defaults(PyCodeObject* code, PyFunctionObject* function, Py_ssize_t given) {
  PyObject* defaults = function->func_defaults;
  Py_ssize_t first = code->co_argcount - (defaults ? PyTuple_GET_SIZE(defaults) : 0);
  for (Py_ssize_t i = given; i < code->co_argcount; ++i) {
    if (locals_[static_cast<size_t>(i)]) continue;
    if (i < first || !own(Py_NewRef(PyTuple_GET_ITEM(defaults, i - first)), static_cast<int>(i))) return false;
  }
  for (int i = code->co_argcount; i < code->co_argcount + code->co_kwonlyargcount; ++i) {
    if (locals_[static_cast<size_t>(i)]) continue;
    PyObject* value =
        function->func_kwdefaults ? PyDict_GetItemWithError(function->func_kwdefaults, local_name(code, i)) : nullptr;
    if (!own(Py_XNewRef(value), i)) return false;
  }
  return true;
}

bool BoundArguments::bind(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  PyCodeObject* code = function_code(function);
  Py_ssize_t given = PyVectorcall_NARGS(nargsf);
  locals_.assign(static_cast<size_t>(local_count(code)), nullptr);
  owned_.clear();
  if (!bind_positional(code, args, given)) return false;
  bool plain = !kwnames && given >= code->co_argcount && code->co_kwonlyargcount == 0;
  if (plain && !(code->co_flags & CO_VARKEYWORDS)) return true;
  return bind_keywords(code, args + given, kwnames) && bind_defaults(code, function, given);
}

Result<std::vector<PyRef>> bind_arguments(PyFunctionObject* function, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  BoundArguments bound;
  if (!bound.bind(function, args, nargsf, kwnames)) return fail(Reason::unsupported_argument, "the arguments do not fit");
  std::vector<PyRef> locals;
  for (int i = 0; i < bound.count(); ++i) locals.push_back(PyRef::borrow(bound.locals()[i]));
  return locals;
}

}  // namespace accel
