#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"

namespace accel {

namespace {

Result<Ref> unsupported_method(Capture&, PyObject* callable, const CallArguments&) {
  return fail(Reason::unsupported_call, short_repr(callable));
}

constexpr struct {
  const char* name;
  Primitive primitive;
} ufunc_methods[] = {{"reduce", numpy_ufunc_reduce},
                     {"outer", numpy_ufunc_outer},
                     {"accumulate", numpy_ufunc_accumulate},
                     {"at", numpy_ufunc_at}};

}  // namespace

Result<UfuncMethod> split_ufunc_method(PyObject* callable, const CallArguments& arguments) {
  if (PyCFunction_Check(callable)) return UfuncMethod{PyCFunction_GET_SELF(callable), arguments};
  const auto& given = arguments.positional;
  if (given.empty() || given[0]->kind != AbstractKind::constant || !is_ufunc(given[0]->object.get())) {
    return fail(Reason::will_raise, "a ufunc's method needs a ufunc");
  }
  return UfuncMethod{given[0]->object.get(), {{given.begin() + 1, given.end()}, arguments.keywords}};
}

Primitive ufunc_primitive(PyObject* callable) {
  if (is_ufunc(callable)) return numpy_ufunc_call;
  bool unbound = Py_IS_TYPE(callable, &PyMethodDescr_Type) && PyDescr_TYPE(callable) == known_types().ufunc;
  bool bound =
      PyCFunction_Check(callable) && PyCFunction_GET_SELF(callable) != nullptr && is_ufunc(PyCFunction_GET_SELF(callable));
  if (!unbound && !bound) return nullptr;
  PyRef name = PyRef::steal(PyObject_GetAttrString(callable, "__name__"));
  for (const auto& row : ufunc_methods) {
    if (name && PyUnicode_CompareWithASCIIString(name.get(), row.name) == 0) return row.primitive;
  }
  return unsupported_method;
}

// Python numbers become arrays first, because the result's dtype depends on theirs.
Result<Operand> outer_operand(Capture& capture, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_operand(capture, ref));
  const bool is_python_number = !operand.is_array() && operand.type.kind != OperandType::Kind::numpy_scalar;
  if (!is_python_number) return operand;
  ACCEL_TRY(Ref array, array_of_sequence(capture, operand.ref, std::nullopt));
  return read_operand(capture, array);
}

// ufunc.outer(a, b): a gets as many new trailing axes as b has.
Result<Ref> numpy_ufunc_outer(Capture& capture, PyObject* callable, const CallArguments& all) {
  ACCEL_TRY(UfuncMethod method, split_ufunc_method(callable, all));
  const CallArguments& arguments = method.arguments;
  if (arguments.positional.size() != 2 || !arguments.keywords.empty())
    return fail(Reason::unsupported_argument,
                "keywords of outer; plain form: ufunc(a.reshape(a.shape + (1,) * b.ndim), b, keywords)");
  PyRef inputs = PyRef::steal(PyObject_GetAttrString(method.ufunc, "nin"));
  if (!inputs || PyLong_AsLong(inputs.get()) != 2) return fail(Reason::will_raise, "outer of a function of one argument");
  ACCEL_TRY(Operand left, outer_operand(capture, arguments.positional[0]));
  ACCEL_TRY(Operand right, outer_operand(capture, arguments.positional[1]));
  Ref tall = left.ref;
  if (left.is_array() && !right.shape.empty()) {
    std::vector<Dim> shape = left.shape;
    shape.resize(left.shape.size() + right.shape.size(), capture.dims().constant(1));
    tall = reshaped(capture, left.ref, shape);
  }
  return apply_ufunc(capture, method.ufunc, {tall, right.ref});
}

}  // namespace accel
