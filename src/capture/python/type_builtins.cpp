// Builtins about types and attributes, and conversions to numbers.

#include "capture/context/descent.h"
#include "capture/context/sources/class_guards.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/conditions.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "ndarray/array.h"

namespace accel {

Status require_plain(const CallArguments& arguments, size_t least, size_t most) {
  if (!arguments.keywords.empty()) return fail(Reason::unsupported_argument, "keyword arguments");
  size_t count = arguments.positional.size();
  if (count < least || count > most) return fail(Reason::unsupported_argument, "the number of arguments");
  return Unit{};
}

Ref keyword(const CallArguments& arguments, const char* name) {
  for (const auto& [key, value] : arguments.keywords) {
    if (key == name) return value;
  }
  return nullptr;
}

namespace {

// Whether `type` is a subclass; fails if a metaclass's code would decide it.
Result<bool> is_subclass(PyTypeObject* type, PyObject* classes) {
  const Descent level;
  if (PyTuple_CheckExact(classes)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
      ACCEL_TRY(bool found, is_subclass(type, PyTuple_GET_ITEM(classes, i)));
      if (found) return true;
    }
    return false;
  }
  if (!PyType_Check(classes)) {
    bool is_union = Py_TYPE(classes) == known_types().union_type;  // int | float
    PyRef members = PyRef::steal(is_union ? PyObject_GetAttrString(classes, "__args__") : nullptr);
    if (!members) PyErr_Clear();
    if (members && PyTuple_CheckExact(members.get())) return is_subclass(type, members.get());
    return fail(Reason::unsupported_argument, "not a class: " + short_repr(classes));
  }
  bool plain = true;
  for (const char* check : {"__subclasscheck__", "__instancecheck__"}) {
    PyRef name = PyRef::steal(PyUnicode_InternFromString(check));
    plain = plain && _PyType_Lookup(Py_TYPE(classes), name.get()) == _PyType_Lookup(&PyType_Type, name.get());
  }
  if (plain) return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(classes)) != 0;
  if (Py_TYPE(classes) != known_types().abc) return fail(Reason::unsupported_argument, "a class with a metaclass");
  int found = PyObject_IsSubclass(reinterpret_cast<PyObject*>(type), classes);
  if (found < 0) PyErr_Clear();
  if (found < 0) return fail(Reason::will_raise, "issubclass");
  bool may_be_registered = found == 0 && can_change(reinterpret_cast<PyTypeObject*>(classes));
  if (may_be_registered) return fail(Reason::unsupported_argument, "a class that others may be registered with");
  return found != 0;
}

Result<Ref> type_test(Capture& capture, PyTypeObject* type, const Ref& classes) {
  guard_bases(capture, type);
  ACCEL_TRY(PyRef spec, capture.constants().require_constant(classes));
  ACCEL_TRY(bool found, is_subclass(type, spec.get()));
  return make_bool(capture, found);
}

// The only element of a 0-d array, for float(array) and other conversions.
Result<Ref> only_item(Capture& capture, const Ref& array) {
  if (!array->array.layout.shape.empty()) return fail(Reason::unsupported_argument, "a number of an array with axes");
  PyRef name = PyRef::steal(PyUnicode_InternFromString("item"));
  ACCEL_TRY(Ref method, get_attribute(capture, array, name.get()));
  return capture.call(method, {});
}

Result<Ref> to_inexact(Capture& capture, PyObject* callable, const CallArguments& arguments, DType dtype) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 1));
  if (arguments.positional.empty()) return fold_call(capture, callable, arguments);
  Ref value = arguments.positional[0];
  if (value->kind == AbstractKind::array) {
    ACCEL_TRY(value, only_item(capture, value));
  }
  if (value->kind == AbstractKind::constant) {
    CallArguments constant;
    constant.positional = {value};
    return fold_call(capture, callable, constant);
  }
  if (value->kind != AbstractKind::scalar) return fail(Reason::unsupported_argument, "a conversion of this object");
  bool narrowing = dtype_kind(value->scalar.dtype) == 'c' && dtype_kind(dtype) != 'c';
  if (narrowing) return fail(Reason::will_raise, "float of a complex number");
  if (value->scalar.kind == ValueKind::py_scalar && value->scalar.dtype == dtype) return value;
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, dtype_kind(dtype) == 'c' ? numbers.as_complex(value) : numbers.as_real(value));
  return capture.values().scalar(v);
}

// complex(a, b) of two real numbers.
Result<Ref> complex_of_parts(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  std::vector<ValueId> parts;
  if (capture.constants().is_constant(arguments.positional[0]) && capture.constants().is_constant(arguments.positional[1]))
    return fold_call(capture, callable, arguments);
  for (const Ref& part : arguments.positional) {
    auto operand = as_operand(capture, part);
    if (!operand || operand->is_array() || dtype_kind(operand->type.dtype) == 'c')
      return fail(Reason::unsupported_argument, "a complex number of these parts");
    ACCEL_TRY(ValueId v, numbers.as_real(part));
    parts.push_back(v);
  }
  return capture.values().scalar(numbers.complex(parts[0], parts[1]));
}

}  // namespace

Result<Ref> capture_type(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  PyTypeObject* type = capture.values().type_of(arguments.positional[0]);
  if (type == nullptr) return fail(Reason::unsupported_argument, "the type of an iterator");
  return capture.values().constant(reinterpret_cast<PyObject*>(type));
}

Result<Ref> capture_isinstance(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  PyTypeObject* type = capture.values().type_of(arguments.positional[0]);
  if (type == nullptr) return fail(Reason::unsupported_argument, "the type of an iterator");
  return type_test(capture, type, arguments.positional[1]);
}

Result<Ref> capture_issubclass(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  ACCEL_TRY(PyRef type, capture.constants().require_constant(arguments.positional[0]));
  if (!PyType_Check(type.get())) return capture.raised(PyExc_TypeError, "issubclass() arg 1 must be a class");
  return type_test(capture, reinterpret_cast<PyTypeObject*>(type.get()), arguments.positional[1]);
}

Result<Ref> capture_callable(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  PyTypeObject* type = capture.values().type_of(arguments.positional[0]);
  if (type == nullptr) return fail(Reason::unsupported_argument, "callable of an iterator");
  guard_class_entries(capture, type, {"__call__"});
  return make_bool(capture, type->tp_call != nullptr);
}

Result<Ref> capture_getattr(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 3));
  ACCEL_TRY(PyRef name, capture.constants().require_constant(arguments.positional[1]));
  if (!PyUnicode_CheckExact(name.get())) return fail(Reason::will_raise, "an attribute name that is no string");
  Result<Ref> found = get_attribute(capture, arguments.positional[0], name.get());
  bool missing = !found.ok() && found.failure().reason == Reason::will_raise;
  if (missing && arguments.positional.size() == 3) return arguments.positional[2];
  return found;
}

Result<Ref> capture_setattr(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 3, 3));
  ACCEL_TRY(PyRef name, capture.constants().require_constant(arguments.positional[1]));
  if (!PyUnicode_CheckExact(name.get())) return fail(Reason::will_raise, "an attribute name that is no string");
  PyObject* interned = name.release();
  PyUnicode_InternInPlace(&interned);
  name = PyRef::steal(interned);
  ACCEL_TRY([[maybe_unused]] Unit done, set_attribute(capture, arguments.positional[0], name.get(), arguments.positional[2]));
  return capture.values().constant(Py_None);
}

Result<Ref> capture_hasattr(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  ACCEL_TRY(PyRef name, capture.constants().require_constant(arguments.positional[1]));
  const Ref& owner = arguments.positional[0];
  if (!PyUnicode_CheckExact(name.get())) return fail(Reason::will_raise, "an attribute name that is no string");
  bool numpy = owner->kind == AbstractKind::array ||
               (owner->kind == AbstractKind::scalar && owner->scalar.kind == ValueKind::numpy_scalar);
  if (numpy) return make_bool(capture, _PyType_Lookup(capture.values().type_of(owner), name.get()) != nullptr);
  Result<Ref> found = get_attribute(capture, owner, name.get());
  if (found.ok() || found.failure().reason == Reason::will_raise) return make_bool(capture, found.ok());
  return found.failure();
}

Result<Ref> capture_bool(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 1));
  if (arguments.positional.empty()) return make_bool(capture, false);
  return truth_value(capture, arguments.positional[0]);
}

Result<Ref> capture_float(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return to_inexact(capture, callable, arguments, DType::float64);
}

Result<Ref> capture_complex(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() == 2 && arguments.keywords.empty()) return complex_of_parts(capture, callable, arguments);
  if (arguments.positional.size() != 1) return fold_call(capture, callable, arguments);
  return to_inexact(capture, callable, arguments, DType::complex128);
}

Result<Ref> capture_int(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) return fold_call(capture, callable, arguments);
  Ref value = arguments.positional[0];
  if (value->kind == AbstractKind::array) {
    ACCEL_TRY(value, only_item(capture, value));
  }
  if (value->kind == AbstractKind::constant) return fold_call(capture, callable, arguments);
  if (value->kind != AbstractKind::scalar) return fail(Reason::unsupported_argument, "int of this object");
  char kind = dtype_kind(value->scalar.dtype);
  if (kind == 'c') return fail(Reason::unsupported_argument, "int of a complex number");
  if (kind != 'f') return python_integer(capture, value);
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, numbers.as_real(value));
  ValueId out = numbers.integer_of(numbers.apply(Op::trunc, {v}, DType::float64));
  return numbers.settled(out, "no int64");
}

}  // namespace accel
