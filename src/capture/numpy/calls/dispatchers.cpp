#include "capture/numpy/calls/dispatchers.h"

#include <unordered_map>

#include "capture/context/descent.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "cpython/function.h"
#include "ndarray/array.h"

namespace accel {

namespace {

PyCodeObject* code_of(PyObject* function) { return reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function)); }

// Whether two functions have equal parameters. NumPy ensures that of a dispatcher and its function.
bool has_same_parameters(PyObject* left, PyObject* right) {
  PyCodeObject *one = code_of(left), *other = code_of(right);
  constexpr int variable = CO_VARARGS | CO_VARKEYWORDS;
  bool same = argument_count(one) == argument_count(other) && one->co_argcount == other->co_argcount &&
              (one->co_flags & variable) == (other->co_flags & variable);
  for (int k = 0; same && k < argument_count(one); ++k) same = PyUnicode_Compare(local_name(one, k), local_name(other, k)) == 0;
  return same;
}

// The dispatcher of a function, from the function's module: it has the function's name, or is the only one with its parameters.
// Null: not found.
PyObject* find_dispatcher(PyObject* implementation) {
  const std::string own = "_" + utf8(reinterpret_cast<PyFunctionObject*>(implementation)->func_name) + "_dispatcher";
  PyObject *name = nullptr, *object = nullptr, *found = nullptr;
  int count = 0;
  for (Py_ssize_t at = 0; PyDict_Next(PyFunction_GET_GLOBALS(implementation), &at, &name, &object);) {
    if (!PyUnicode_Check(name) || !PyFunction_Check(object)) continue;
    std::string text = utf8(name);
    if (!text.ends_with("_dispatcher") || !has_same_parameters(object, implementation)) continue;
    if (text == own) return object;
    found = object;
    ++count;
  }
  return count == 1 ? found : nullptr;
}

PyObject* dispatcher_of(PyObject* implementation) {
  static std::unordered_map<PyObject*, PyObject*> known;  // NumPy's functions are never freed
  auto [place, fresh] = known.try_emplace(implementation, nullptr);
  if (fresh && PyFunction_Check(implementation)) place->second = find_dispatcher(implementation);
  if (fresh) Py_INCREF(implementation);
  return place->second;
}

// Makes small stand-in objects of the arguments' types, which a dispatcher cannot distinguish from the arguments.
class StandIns {
 public:
  explicit StandIns(Capture& capture) : capture_(capture) {}

  // The stand-in of a value; null: there is none.
  PyRef make(const Ref& value) {
    const Descent level;
    capture_.resolver().look(value);
    switch (value->kind) {
      case AbstractKind::constant:
        return constant(value->object);
      case AbstractKind::function:
      case AbstractKind::method:
        return PyRef::borrow(Py_None);
      case AbstractKind::scalar:
        return number(value->scalar);
      case AbstractKind::array:
      case AbstractKind::masked_selection:
        return array(value->array.layout.dtype, value->array.layout.shape.size());
      case AbstractKind::tuple:
      case AbstractKind::list:
        return value->kind == AbstractKind::tuple && value->object ? constant(value->object) : sequence(*value);
      case AbstractKind::iterator:
      case AbstractKind::generator:
        return iterator();
      default:
        return {};
    }
  }

  // Whether the dispatcher has consumed items of an iterator.
  bool has_read() const {
    for (const PyRef& each : iterators_)
      if (PyObject_LengthHint(each.get(), 0) != 1) return true;
    return false;
  }

 private:
  // A dispatcher does not inspect functions; objects of other types have no stand-in.
  static PyRef constant(const PyRef& object) {
    if (is_foldable(object.get())) return object;
    bool function = PyFunction_Check(object.get()) || PyCFunction_Check(object.get()) || is_ufunc(object.get());
    return function ? PyRef::borrow(Py_None) : PyRef();
  }

  static PyRef number(const ScalarState& scalar) {
    const uint64_t zero[4] = {};
    return PyRef::steal(scalar.kind == ValueKind::py_scalar ? new_python_scalar(scalar.dtype, zero)
                                                            : new_numpy_scalar(scalar.dtype, zero));
  }

  static PyRef array(DType dtype, size_t rank) {
    const std::vector<int64_t> shape(rank, 1);
    return PyRef::steal(new_array(dtype, shape, {}));
  }

  PyRef sequence(const AbstractValue& value) {
    PyRef items = PyRef::steal(PyList_New(0));
    for (const Ref& item : value.items) {
      PyRef made = make(item);
      if (!made || PyList_Append(items.get(), made.get()) != 0) return {};
    }
    return value.kind == AbstractKind::list ? std::move(items) : PyRef::steal(PyList_AsTuple(items.get()));
  }

  PyRef iterator() {
    PyRef items = PyRef::steal(Py_BuildValue("[O]", Py_None));
    iterators_.push_back(PyRef::steal(items ? PyObject_GetIter(items.get()) : nullptr));
    return iterators_.back();
  }

  Capture& capture_;
  std::vector<PyRef> iterators_;
};

// The arguments that the dispatcher returns, as a list. Null, with a pending exception, if it raises.
PyRef ask(PyObject* dispatcher, const std::vector<PyRef>& positional, const std::vector<std::pair<std::string, PyRef>>& named) {
  PyRef arguments = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(positional.size())));
  PyRef keywords = PyRef::steal(PyDict_New());
  for (size_t k = 0; k < positional.size(); ++k)
    PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(k), positional[k].new_reference());
  for (const auto& [name, value] : named) PyDict_SetItemString(keywords.get(), name.c_str(), value.get());
  PyRef relevant = PyRef::steal(PyObject_Call(dispatcher, arguments.get(), keywords.get()));
  return relevant ? PyRef::steal(PySequence_List(relevant.get())) : PyRef();
}

}  // namespace

Status check_dispatch(Capture& capture, PyObject* implementation, const CallArguments& arguments) {
  PyObject* dispatcher = dispatcher_of(implementation);
  if (dispatcher == nullptr) return Unit{};
  StandIns stand_ins(capture);
  std::vector<PyRef> positional;
  std::vector<std::pair<std::string, PyRef>> named;
  for (const Ref& argument : arguments.positional) positional.push_back(stand_ins.make(argument));
  for (const auto& [name, argument] : arguments.keywords) named.emplace_back(name, stand_ins.make(argument));
  bool known = true;
  for (const PyRef& each : positional) known = known && each;
  for (const auto& each : named) known = known && each.second;
  if (!known) return Unit{};
  PyRef relevant = ask(dispatcher, positional, named);
  if (!relevant) {
    PyErr_Clear();
    return fail(Reason::will_raise, "NumPy's dispatcher of " + short_repr(implementation));
  }
  if (stand_ins.has_read()) return fail(Reason::unsupported_argument, "an iterator that NumPy's dispatcher reads");
  return Unit{};
}

}  // namespace accel
