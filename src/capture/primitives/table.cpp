#include <algorithm>
#include <unordered_map>

#include "capture/context/context.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/primitive.h"

namespace accel {

#define PRIMITIVE(name, function) Result<Ref> function(Capture& capture, PyObject* callable, const CallArguments& arguments);
#define FOLD(name)
#define PYTHON_FORM(name, function)
#define NUMBER_FORM(name, function)
#define LIST_FORM(name, function)
#include "capture/primitives/primitives.inc"
#undef PRIMITIVE
#undef FOLD
#undef PYTHON_FORM
#undef NUMBER_FORM
#undef LIST_FORM

namespace {

struct Row {
  const char* name;
  Primitive primitive;
};

const Row rows[] = {
#define PRIMITIVE(name, function) {name, function},
#define FOLD(name) {name, fold_call},
#define PYTHON_FORM(name, function)
#define NUMBER_FORM(name, function)
#define LIST_FORM(name, function)
#include "capture/primitives/primitives.inc"
#undef PRIMITIVE
#undef FOLD
#undef PYTHON_FORM
#undef NUMBER_FORM
#undef LIST_FORM
};

struct FormRow {
  const char *name, *function;
  FormOf of;
};

const FormRow forms[] = {
#define PRIMITIVE(name, function)
#define FOLD(name)
#define PYTHON_FORM(name, function) {name, function, FormOf::iterables},
#define NUMBER_FORM(name, function) {name, function, FormOf::numbers},
#define LIST_FORM(name, function) {name, function, FormOf::lists},
#include "capture/primitives/primitives.inc"
#undef PRIMITIVE
#undef FOLD
#undef PYTHON_FORM
#undef NUMBER_FORM
#undef LIST_FORM
};

PyRef step_into(PyRef object, const std::string& name) {
  PyRef next = PyRef::steal(object ? PyObject_GetAttrString(object.get(), name.c_str()) : nullptr);
  if (!next) PyErr_Clear();
  return next;
}

// The object with a dotted name: an importable module, then attributes.
PyRef resolve(const std::string& name) {
  size_t dot = name.find('.');
  PyRef object = PyRef::steal(PyImport_ImportModule(name.substr(0, dot).c_str()));
  if (!object) PyErr_Clear();
  while (dot != std::string::npos && object) {
    size_t end = name.find('.', dot + 1);
    PyRef next = step_into(object, name.substr(dot + 1, end == std::string::npos ? end : end - dot - 1));
    if (!next && PyModule_Check(object.get())) {  // a submodule that has not been imported yet
      next = PyRef::steal(PyImport_ImportModule(name.substr(0, end).c_str()));
      if (!next) PyErr_Clear();
    }
    object = std::move(next);
    dot = end;
  }
  // A class method is bound anew at each access; its descriptor is stable.
  if (object && PyCFunction_Check(object.get()) && PyCFunction_GET_SELF(object.get()) != nullptr &&
      PyType_Check(PyCFunction_GET_SELF(object.get()))) {
    PyRef last = PyRef::steal(PyUnicode_FromString(name.substr(name.rfind('.') + 1).c_str()));
    auto* type = reinterpret_cast<PyTypeObject*>(PyCFunction_GET_SELF(object.get()));
    return PyRef::borrow(last ? _PyType_Lookup(type, last.get()) : nullptr);
  }
  return object;
}

// The objects are never freed, so their addresses remain unique keys.
const std::unordered_map<PyObject*, Primitive>& table() {
  static const std::unordered_map<PyObject*, Primitive> known = [] {
    std::unordered_map<PyObject*, Primitive> out;
    for (const Row& row : rows) {
      PyRef object = resolve(row.name);
      if (object) out.emplace(object.release(), row.primitive);
    }
    return out;
  }();
  return known;
}

// Whether it is a method of an immutable builtin type, hence pure.
bool is_pure_method(PyObject* callable) {
  if (!Py_IS_TYPE(callable, &PyMethodDescr_Type)) return false;
  PyTypeObject* type = PyDescr_TYPE(callable);
  for (PyTypeObject* pure : {&PyUnicode_Type, &PyBytes_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type, &PyRange_Type,
                             &PyTuple_Type, &PyFrozenSet_Type, &PySlice_Type}) {
    if (type == pure) return true;
  }
  return false;
}

}  // namespace

PythonForm find_python_form(PyObject* callable) {
  static const std::unordered_map<PyObject*, PythonForm> known = [] {
    std::unordered_map<PyObject*, PythonForm> out;
    for (const FormRow& row : forms) {
      PyRef object = resolve(row.name), form = resolve(std::string("accel._builtins.") + row.function);
      if (object && form) out.emplace(object.release(), PythonForm{form.release(), row.of});
    }
    return out;
  }();
  auto found = known.find(callable);
  return found == known.end() ? PythonForm() : found->second;
}

Primitive find_primitive(PyObject* callable) {
  auto found = table().find(callable);
  if (found != table().end()) return found->second;
  if (is_pure_method(callable)) return fold_call;
  if (Primitive found = ufunc_primitive(callable)) return found;
  return generator_primitive(callable);
}

bool reads_lanes(Primitive primitive) {
  static const Primitive readers[] = {numpy_ufunc_call,    numpy_ufunc_reduce, numpy_array_sum, numpy_array_prod,
                                      numpy_array_max,     numpy_array_min,    numpy_array_any, numpy_array_all,
                                      numpy_array_clip,    capture_isinstance, capture_type,    capture_callable,
                                      capture_list_append, capture_getattr,    capture_hasattr};
  return std::find(std::begin(readers), std::end(readers), primitive) != std::end(readers);
}

namespace {

// A callable that returns a new object in each call, such as np.dtype("S5") and np.iinfo(t): the constant records its callable
// and arguments, so that an exit can make one.
Result<Ref> remember_call(Capture& capture, Result<Ref> folded, PyObject* callable, const std::vector<PyRef>& positional,
                          PyObject* keywords) {
  if (!folded.ok() || (*folded)->kind != AbstractKind::constant) return folded;
  PyObject* object = (*folded)->object.get();
  if (!is_dtype(object) && !Py_IS_TYPE(object, known_types().iinfo)) return folded;
  std::vector<Ref> parts = {capture.values().constant(callable)};
  PyRef given = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(positional.size())));
  for (size_t i = 0; given && i < positional.size(); ++i) {
    PyTuple_SET_ITEM(given.get(), static_cast<Py_ssize_t>(i), positional[i].new_reference());
    parts.push_back(capture.values().constant(positional[i].get()));
  }
  PyRef another = PyRef::steal(given ? PyObject_Call(callable, given.get(), keywords) : nullptr);
  if (!another) PyErr_Clear();
  if (!another || another.get() == object) return folded;
  if (keywords != nullptr && PyDict_GET_SIZE(keywords) > 0) {
    PyRef first = PyRef::steal(PyTuple_Pack(1, callable));
    PyRef with_keywords = PyRef::steal(
        first ? PyObject_Call(reinterpret_cast<PyObject*>(known_types().partial), first.get(), keywords) : nullptr);
    if (!with_keywords) return capture.raised();
    parts[0] = capture.values().constant(with_keywords.get());
  }
  (*folded)->items = std::move(parts);
  return folded;
}

// If a folded call returns one of its arguments, the result is the abstract argument, because each run passes another object.
// `values`: of the positional arguments, then of the keyword arguments.
Result<Ref> with_own_argument(Result<Ref> folded, const CallArguments& arguments, const std::vector<PyRef>& values) {
  if (!folded.ok() || (*folded)->kind != AbstractKind::constant) return folded;
  std::vector<Ref> given = arguments.positional;
  for (const auto& keyword : arguments.keywords) given.push_back(keyword.second);
  PyObject* object = (*folded)->object.get();
  for (size_t i = 0; i < given.size(); ++i) {
    bool is_plain = given[i]->kind == AbstractKind::constant || given[i]->kind == AbstractKind::scalar;
    if (is_plain && values[i].get() == object) return given[i];
  }
  return folded;
}

bool is_lazy(const Ref& value) {
  return value->kind == AbstractKind::iterator || value->kind == AbstractKind::generator ||
         value->kind == AbstractKind::dict_view;
}

// The result of a callable for arguments in which `iterable` replaces the lazy ones. Null: the call raises.
Result<PyRef> call_of(Capture& capture, PyObject* callable, const CallArguments& arguments, const PyRef& iterable) {
  std::vector<PyRef> values;
  for (const Ref& argument : arguments.positional) {
    PyRef value = iterable;
    if (!is_lazy(argument)) {
      ACCEL_TRY(value, capture.constants().require_constant(argument));
    }
    values.push_back(std::move(value));
  }
  std::vector<PyObject*> borrowed;
  for (const PyRef& value : values) borrowed.push_back(value.get());
  PyRef result = PyRef::steal(PyObject_Vectorcall(callable, borrowed.data(), borrowed.size(), nullptr));
  PyErr_Clear();
  return result;
}

// Whether a callable only uses the items of an iterable: for an iterator over numbers it returns the same as for a list of
// them, or it rejects both. Counterexample: str of an iterator.
Result<bool> takes_items(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PyRef list = PyRef::steal(Py_BuildValue("[ii]", 1, 2));
  PyRef iterator = PyRef::steal(list ? PyObject_GetIter(list.get()) : nullptr);
  if (!iterator) return PyErr_Clear(), false;
  ACCEL_TRY(PyRef of_list, call_of(capture, callable, arguments, list));
  ACCEL_TRY(PyRef of_iterator, call_of(capture, callable, arguments, iterator));
  if (!of_list || !of_iterator) return !of_list && !of_iterator;
  if (!Py_IS_TYPE(of_list.get(), Py_TYPE(of_iterator.get()))) return false;
  const bool same = PyObject_RichCompareBool(of_list.get(), of_iterator.get(), Py_EQ) == 1;
  PyErr_Clear();
  return same;
}

}  // namespace

Result<Ref> fold_call(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  std::vector<PyRef> values;
  auto add = [&](Ref argument) -> Status {
    if (is_lazy(argument)) {
      ACCEL_TRY(std::vector<Ref> items, all_items(capture, argument));
      for (const Ref& item : items) capture.resolver().look_deep(item);
      argument = capture.values().list(std::move(items));
    }
    if (argument->kind == AbstractKind::object) return fail(Reason::unsupported_call, short_repr(callable) + " of an object");
    ACCEL_TRY(PyRef value, capture.constants().require_constant(argument));
    if (PyRange_Check(value.get()) && PyObject_Size(value.get()) > most_turns)
      return fail(Reason::unsupported_call, short_repr(callable) + " of a long range");
    if (!is_foldable(value.get()))
      return fail(Reason::unsupported_call, short_repr(callable) + " of " + type_name(value.get()));
    values.push_back(std::move(value));
    return Unit{};
  };
  if (std::any_of(arguments.positional.begin(), arguments.positional.end(), is_lazy)) {
    ACCEL_TRY(bool items, takes_items(capture, callable, arguments));
    if (!items) return fail(Reason::unsupported_call, short_repr(callable) + " of an iterator");
  }
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY([[maybe_unused]] Unit done, add(argument));
  }
  if (arguments.keywords.empty()) {
    Result<Ref> result = with_own_argument(fold(capture, callable, values), arguments, values);
    return remember_call(capture, std::move(result), callable, values, nullptr);
  }
  const size_t count = values.size();
  PyRef keywords = PyRef::steal(PyDict_New());
  PyRef positional = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(positional.get(), static_cast<Py_ssize_t>(i), values[i].new_reference());
  for (const auto& [name, argument] : arguments.keywords) {
    ACCEL_TRY([[maybe_unused]] Unit done, add(argument));
    PyDict_SetItemString(keywords.get(), name.c_str(), values.back().get());
  }
  Result<Ref> result = folded_quietly(capture, [&] { return PyObject_Call(callable, positional.get(), keywords.get()); });
  result = with_own_argument(std::move(result), arguments, values);
  values.resize(count);
  return remember_call(capture, std::move(result), callable, values, keywords.get());
}

}  // namespace accel
