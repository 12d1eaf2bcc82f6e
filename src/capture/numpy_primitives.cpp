#include "capture/numpy_primitives.h"

#include "capture/known_types.h"
#include "capture/numpy_arguments.h"
#include "capture/numpy_ufunc.h"
#include "capture/numpy_views.h"
#include "capture/python_text.h"

namespace accel {

namespace {

Result<Ref> unsupported_method(Capture&, PyObject* callable, const CallArguments&) {
  return fail(Reason::unsupported_call, short_repr(callable));
}

constexpr struct {
  const char* name;
  Primitive primitive;
} ufunc_methods[] = {{"reduce", numpy_ufunc_reduce}, {"outer", numpy_ufunc_outer}};

}  // namespace

Primitive ufunc_primitive(PyObject* callable) {
  if (is_ufunc(callable)) return numpy_ufunc_call;
  if (!PyCFunction_Check(callable)) return nullptr;
  PyObject* self = PyCFunction_GET_SELF(callable);
  if (self == nullptr || !is_ufunc(self)) return nullptr;
  PyRef name = PyRef::steal(PyObject_GetAttrString(callable, "__name__"));
  for (const auto& row : ufunc_methods) {
    if (name && PyUnicode_CompareWithASCIIString(name.get(), row.name) == 0) return row.primitive;
  }
  return unsupported_method;
}

// ufunc.outer(a, b): a with as many new last axes as b has.
Result<Ref> numpy_ufunc_outer(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() != 2 || !arguments.keywords.empty()) return fail(Reason::unsupported_argument, "keywords of outer");
  ACCEL_TRY(Operand left, read_operand(capture, arguments.positional[0]));
  ACCEL_TRY(Operand right, read_operand(capture, arguments.positional[1]));
  Ref tall = left.ref;
  if (left.is_array() && !right.shape.empty()) {
    std::vector<Dim> shape = left.shape;
    shape.resize(left.shape.size() + right.shape.size(), capture.dims().constant(1));
    tall = reshaped(capture, left.ref, shape);
  }
  return apply_ufunc(capture, PyCFunction_GET_SELF(callable), {tall, right.ref});
}

}  // namespace accel
