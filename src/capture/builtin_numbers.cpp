// Builtins that compute with numbers.

#include <opcode.h>

#include "capture/builtin_primitives.h"
#include "capture/known_types.h"
#include "capture/python_text.h"
#include "ndarray/array.h"

namespace accel {

namespace {

PyObject* numpy_function(const char* name) {
  PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
  PyObject* found = numpy ? PyObject_GetAttrString(numpy.get(), name) : nullptr;
  if (found == nullptr) PyErr_Clear();
  return found;
}

Result<Ref> call_ufunc(Capture& capture, const char* name, const Ref& value) {
  PyRef ufunc = PyRef::steal(numpy_function(name));
  if (!ufunc) return fail(Reason::unsupported_call, name);
  CallArguments arguments;
  arguments.positional = {value};
  return capture.call(capture.constant(ufunc.get()), arguments);
}

// The candidates of min and max: the arguments or the items of the only one.
Result<std::vector<Ref>> candidates(Capture& capture, const CallArguments& arguments) {
  if (!arguments.keywords.empty()) return fail(Reason::unsupported_argument, "key or default");
  if (arguments.positional.size() != 1) return arguments.positional;
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  for (const Ref& item : items) capture.look(item);
  return items;
}

Result<Ref> extreme(Capture& capture, PyObject* callable, const CallArguments& arguments, bool largest) {
  ACCEL_TRY(std::vector<Ref> items, candidates(capture, arguments));
  if (items.empty()) return fail(Reason::will_raise, "no candidates");
  bool all_constant = true, all_int = true;
  for (const Ref& item : items) {
    all_constant = all_constant && capture.is_constant(item);
    all_int = all_int && capture.type_of(item) == &PyLong_Type && as_dim(capture, item);
  }
  if (all_constant) {
    CallArguments constants;
    constants.positional = {capture.tuple(items)};
    return fold_call(capture, callable, constants);
  }
  Ref best = items[0];
  if (all_int) {
    Dim d = *as_dim(capture, best);
    for (const Ref& item : items) {
      Dim other = *as_dim(capture, item);
      d = largest ? capture.dims().max(d, other) : capture.dims().min(d, other);
    }
    return capture.dim_scalar(d);
  }
  for (size_t i = 1; i < items.size(); ++i) {
    ACCEL_TRY(Ref better, compare(capture, largest ? Py_GT : Py_LT, items[i], best));
    ACCEL_TRY(bool replace, truth(capture, better));
    if (replace) best = items[i];
  }
  return best;
}

}  // namespace

Result<Ref> capture_abs(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  if (value->kind == AbstractKind::constant && is_plain_constant(value->object.get()))
    return fold_call(capture, callable, arguments);
  if (value->kind == AbstractKind::scalar && value->scalar.dim) {
    DimTable& dims = capture.dims();
    Dim d = *value->scalar.dim, zero = dims.constant(0);
    if (capture.decide(d, Comparison::ge, zero)) return value;
    if (capture.fits(d)) return capture.dim_scalar(dims.sub(zero, d), value->scalar.kind);
  }
  bool python = value->kind == AbstractKind::scalar && value->scalar.kind == ValueKind::py_scalar;
  if (python && value->scalar.dtype == DType::float64) {
    ACCEL_TRY(ValueId v, capture.scalar_value(value));
    return capture.scalar(capture.build().pointwise(Op::absolute, {v}, {DType::float64}, ValueKind::py_scalar));
  }
  bool numpy =
      value->kind == AbstractKind::array || value->kind == AbstractKind::scalar || value->kind == AbstractKind::constant;
  if (python || !numpy) return fail(Reason::unsupported_argument, "abs of this object");
  return call_ufunc(capture, "absolute", value);
}

Result<Ref> capture_max(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return extreme(capture, callable, arguments, true);
}

Result<Ref> capture_min(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return extreme(capture, callable, arguments, false);
}

Result<Ref> capture_sum(Capture& capture, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.empty() || arguments.positional.size() > 2) return fail(Reason::unsupported_argument, "sum");
  Ref total = arguments.positional.size() == 2 ? arguments.positional[1] : keyword(arguments, "start");
  if (!total) total = capture.python_int(0);
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  bool compensated = false;
  for (const Ref& item : items) {
    ACCEL_TRY(total, binary_operation(capture, NB_ADD, false, total, item));
    PyTypeObject* type = capture.type_of(total);
    compensated = compensated || type == &PyFloat_Type || type == &PyComplex_Type;
  }
  // From 3.12 on sum() of floats is a compensated sum.
  if (compensated && items.size() > 1) return fail(Reason::unsupported_argument, "sum of Python floats");
  return total;
}

Result<Ref> capture_math_prod(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  Ref total = capture.python_int(1);
  for (const Ref& item : items) {
    if (capture.type_of(item) != &PyLong_Type)
      return fail(Reason::unsupported_argument, "a product of other numbers than ints");
    ACCEL_TRY(total, binary_operation(capture, NB_MULTIPLY, false, total, item));
  }
  return total;
}

// math.sqrt; of a size without fixing it.
Result<Ref> capture_math_sqrt(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto d = arguments.positional.size() == 1 ? as_dim(capture, arguments.positional[0]) : std::nullopt;
  if (!d || capture.dims().as_constant(*d)) return fold_call(capture, callable, arguments);
  if (!capture.decide(*d, Comparison::ge, capture.dims().constant(0))) return fail(Reason::will_raise, "math domain error");
  ACCEL_TRY(ValueId v, capture.scalar_value(arguments.positional[0]));
  Type type{ValueKind::py_scalar, DType::float64, {}, {}};
  v = capture.graph().add_node(capture.build().block(), Op::astype, {v}, {}, {type}, capture.location());
  return capture.scalar(capture.build().pointwise(Op::sqrt, {v}, {DType::float64}, ValueKind::py_scalar));
}

// round, math.floor and the like: integers stay what they are.
Result<Ref> capture_round(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  bool one = arguments.positional.size() == 1 && arguments.keywords.empty();
  if (one && capture.type_of(arguments.positional[0]) == &PyLong_Type) return arguments.positional[0];
  if (one) capture.promote_inputs_of(arguments.positional[0]);
  return fold_call(capture, callable, arguments);
}

Result<Ref> capture_pow(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() != 2 || !arguments.keywords.empty()) return fold_call(capture, callable, arguments);
  return binary_operation(capture, NB_POWER, false, arguments.positional[0], arguments.positional[1]);
}

Result<Ref> capture_divmod(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  const Ref &left = arguments.positional[0], &right = arguments.positional[1];
  if (capture.type_of(left) != &PyLong_Type || capture.type_of(right) != &PyLong_Type) {
    return fail(Reason::unsupported_argument, "divmod of other numbers than ints");
  }
  ACCEL_TRY(Ref quotient, binary_operation(capture, NB_FLOOR_DIVIDE, false, left, right));
  ACCEL_TRY(Ref remainder, binary_operation(capture, NB_REMAINDER, false, left, right));
  return capture.tuple({quotient, remainder});
}

Result<Ref> capture_index(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  if (value->kind == AbstractKind::scalar && value->scalar.dim) return capture.dim_scalar(*value->scalar.dim);
  bool number =
      value->kind == AbstractKind::scalar && dtype_kind(value->scalar.dtype) != 'f' && dtype_kind(value->scalar.dtype) != 'c';
  bool array = value->kind == AbstractKind::array && value->array.lens.shape.empty();
  bool object = value->kind == AbstractKind::object || value->kind == AbstractKind::instance;
  if (number || array || object) return fail(Reason::unsupported_argument, "an index of this object");
  if (value->kind != AbstractKind::constant) return capture.raised(PyExc_TypeError, "the object is no integer");
  return fold_call(capture, callable, arguments);
}

}  // namespace accel
