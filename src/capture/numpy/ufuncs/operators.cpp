// Python's operators on arrays, NumPy scalars, and Python floats.

#include <opcode.h>

#include <cmath>

#include "capture/numpy/ufuncs/elision.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/scalar_overflow.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "ndarray/array.h"

namespace accel {

std::optional<Op> binary_op(int op) {
  switch (op) {
    case NB_ADD:
      return Op::add;
    case NB_AND:
      return Op::bitwise_and;
    case NB_FLOOR_DIVIDE:
      return Op::floor_divide;
    case NB_LSHIFT:
      return Op::left_shift;
    case NB_MATRIX_MULTIPLY:
      return Op::matmul;
    case NB_MULTIPLY:
      return Op::multiply;
    case NB_REMAINDER:
      return Op::remainder;
    case NB_OR:
      return Op::bitwise_or;
    case NB_POWER:
      return Op::power;
    case NB_RSHIFT:
      return Op::right_shift;
    case NB_SUBTRACT:
      return Op::subtract;
    case NB_TRUE_DIVIDE:
      return Op::divide;
    case NB_XOR:
      return Op::bitwise_xor;
    default:
      return std::nullopt;
  }
}

namespace {

Op comparison_op(int op) {
  static const Op table[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal, Op::greater, Op::greater_equal};
  return table[op];
}

using Kind = OperandType::Kind;

// Whether NumPy squares bool arrays as int8 (since 2.3.2) instead of calling power.
bool squares_bool() {
  static const bool known = [] {
    PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
    PyRef array = PyRef::steal(numpy ? PyObject_CallMethod(numpy.get(), "zeros", "is", 1, "?") : nullptr);
    PyRef two = PyRef::steal(PyLong_FromLong(2));
    PyRef power = PyRef::steal(array ? PyNumber_Power(array.get(), two.get(), Py_None) : nullptr);
    PyRef square = PyRef::steal(array ? PyObject_CallMethod(numpy.get(), "square", "O", array.get()) : nullptr);
    if (!power || !square) PyErr_Clear();
    return power && square && array_facts(power.get()).dtype == array_facts(square.get()).dtype;
  }();
  return known;
}

// Whether a Python number equals `value` exactly; for symbolic ones decided by a guard.
bool is_number(Capture& capture, const Operand& operand, double value) {
  if (operand.ref->kind == AbstractKind::scalar && operand.ref->scalar.dim && std::trunc(value) == value) {
    return capture.facts().decide_equal(*operand.ref->scalar.dim, capture.dims().constant(static_cast<int64_t>(value)));
  }
  if (operand.ref->kind != AbstractKind::constant) return false;
  PyObject* object = operand.ref->object.get();
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object) == value;
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && static_cast<double>(number) == value;
}

// The ufunc that ndarray.__pow__ calls instead of power for some exponents (fast_scalar_power).
std::optional<Op> fast_power(Capture& capture, const Operand& base, const Operand& exponent) {
  char kind = dtype_kind(base.type.dtype);
  bool inexact = kind == 'f' || kind == 'c';
  if (exponent.type.kind == Kind::py_int) {
    if (is_number(capture, exponent, 2) && (kind != 'b' || squares_bool())) return Op::square;
    if (inexact && is_number(capture, exponent, -1)) return Op::reciprocal;
  }
  if (exponent.type.kind == Kind::py_float && inexact && is_number(capture, exponent, 0.5)) return Op::sqrt;
  return std::nullopt;
}

// Requires a run-time exponent to be none of those that fast_power handles.
Status require_slow_power(Capture& capture, const Operand& base, const Operand& exponent) {
  const Ref& ref = exponent.ref;
  if (ref->kind != AbstractKind::scalar || ref->scalar.dim) return Unit{};
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId value, capture.values().scalar_value(ref));
  char kind = dtype_kind(base.type.dtype);
  bool inexact = kind == 'f' || kind == 'c';
  if (exponent.type.kind == Kind::py_int) {
    numbers.need(numbers.test(Op::not_equal, value, numbers.integer(2)));
    if (inexact) numbers.need(numbers.test(Op::not_equal, value, numbers.integer(-1)));
  }
  if (exponent.type.kind == Kind::py_float && inexact) numbers.need(numbers.test(Op::not_equal, value, numbers.real(0.5)));
  return numbers.settle("an exponent for which NumPy calls another ufunc");
}

Result<Ref> array_operation(Capture& capture, Op op, bool inplace, const Operand& left, const Operand& right,
                            Temporaries temporaries) {
  UfuncOptions options;
  if (inplace && left.is_array()) {
    // NumPy passes axes for @=, which excludes vectors.
    if (op == Op::matmul && (left.shape.size() < 2 || right.shape.size() < 2)) return fail(Reason::will_raise, "@= of vectors");
    options.outs = {left.ref};
  }
  if (op == Op::power) {
    if (left.is_array() && is_python_number(right)) {
      if (right.ref->kind == AbstractKind::scalar && right.type.kind == Kind::py_float)
        capture.constants().promote_inputs_of(right.ref);
      ACCEL_TRY([[maybe_unused]] Unit slow, require_slow_power(capture, left, right));
      if (auto fast = fast_power(capture, left, right)) return apply_ufunc(capture, *fast, {left.ref}, options);
    }
  }
  if (!inplace) options.into = elided_operand(capture, op, left, right, temporaries);
  if (options.into == right.ref) return apply_ufunc(capture, op, {right.ref, left.ref}, options);
  return apply_ufunc(capture, op, {left.ref, right.ref}, options);
}

// An operation of NumPy integer scalars that warns when it overflows.
Result<Ref> integer_scalar_operation(Capture& capture, Op op, const std::vector<Operand>& operands,
                                     const std::vector<DType>& dtypes) {
  std::vector<ValueId> values;
  for (size_t k = 0; k < operands.size(); ++k) {
    ACCEL_TRY(ValueId value, operand_value(capture, operands[k], dtypes[k]));
    values.push_back(value);
  }
  ValueId result = capture.build().pointwise(op, values, {dtypes.back()}, ValueKind::numpy_scalar);
  report_overflow(capture, op, values, dtypes.back());
  return capture.values().scalar(result);
}

// An operation of NumPy scalars by a separate op, because its bits differ from those of NumPy's array loops.
Result<Ref> own_operation(Capture& capture, Op op, const Operand& left, const Operand& right,
                          const std::vector<DType>& dtypes) {
  ACCEL_TRY(ValueId l, operand_value(capture, left, dtypes[0]));
  ACCEL_TRY(ValueId r, operand_value(capture, right, dtypes[1]));
  return capture.values().scalar(capture.build().pointwise(op, {l, r}, {dtypes[2]}, ValueKind::numpy_scalar));
}

// An integer to a run-time exponent: NumPy raises for negative exponents.
Result<Ref> integer_scalar_power(Capture& capture, const Operand& left, const Operand& right,
                                 const std::vector<DType>& dtypes) {
  ACCEL_TRY(ValueId exponent, operand_value(capture, right, dtypes[1]));
  ACCEL_TRY([[maybe_unused]] Unit natural, require_natural(capture, exponent));
  return own_operation(capture, Op::int_power, left, right, dtypes);
}

// Whether an operator of a NumPy scalar converts a Python number of this kind to the scalar's dtype.
bool takes_python_number(DType dtype, Kind number) {
  char kind = dtype_kind(dtype);
  if (number == Kind::py_complex) return kind == 'c';
  if (number == Kind::py_float) return kind == 'f' || kind == 'c';
  return kind != 'b';
}

// Whether NumPy's scalar types implement the operation instead of the ufunc: one operand has the dtype of both.
bool is_done_by_scalars(const Operand& left, const Operand& right) {
  if (is_python_number(right)) return takes_python_number(left.type.dtype, right.type.kind);
  if (is_python_number(left)) return takes_python_number(right.type.dtype, left.type.kind);
  DType a = left.type.dtype, b = right.type.dtype;
  return a != DType::bool_ && (can_cast(a, b, "safe") || can_cast(b, a, "safe"));
}

// The name of a scalar operation in NumPy's warnings.
std::string name_of_scalar_operation(Op op, const Operand& left, const Operand& right) {
  return std::string(is_done_by_scalars(left, right) ? "scalar " : "") + op_info(op).name;
}

Result<Ref> scalar_operation(Capture& capture, Op op, const Operand& left, const Operand& right) {
  EventCall events(capture, name_of_scalar_operation(op, left, right));
  std::vector<OperandType> types = {left.type, right.type};
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc_of(op), types, nullptr, false));
  if (reports_overflow(op, dtypes[0])) return integer_scalar_operation(capture, op, {left, right}, dtypes);
  char kind = dtype_kind(dtypes[0]);
  if (op == Op::power && (kind == 'i' || kind == 'u') && right.ref->kind != AbstractKind::constant)
    return integer_scalar_power(capture, left, right, dtypes);
  bool own = op == Op::power || op == Op::floor_divide || op == Op::remainder;
  if (own && dtypes[0] == DType::float16) return fail(Reason::unsupported_dtype, "this operator of float16 scalars");
  bool plain = dtypes[0] == DType::float32 || dtypes[0] == DType::float64;
  if (plain && op == Op::power) return own_operation(capture, Op::scalar_power, left, right, dtypes);
  if (plain && op == Op::floor_divide) return own_operation(capture, Op::scalar_floor_divide, left, right, dtypes);
  if (plain && op == Op::remainder) return own_operation(capture, Op::scalar_remainder, left, right, dtypes);
  if (kind == 'c' && op == Op::multiply) return own_operation(capture, Op::scalar_multiply, left, right, dtypes);
  if (kind == 'c' && op != Op::add && op != Op::subtract && op != Op::divide)
    return fail(Reason::unsupported_value, "arithmetic of NumPy complex scalars");
  return apply_ufunc(capture, op, {left.ref, right.ref});
}

// numpy.float64 is a subclass of float, so complex's own operator handles a complex on its left.
bool is_complex_and_float(const Operand& left, const Operand& right) {
  return left.type.kind == Kind::py_complex && right.type.kind == Kind::numpy_scalar && right.type.dtype == DType::float64;
}

Operand as_python_float(const Operand& operand) { return {operand.ref, {Kind::py_float, DType::float64}, {}}; }

}  // namespace

Result<Ref> array_binary(Capture& capture, int number, bool inplace, const Ref& left_ref, const Ref& right_ref,
                         Temporaries temporaries) {
  auto op = binary_op(number);
  if (!op) return fail(Reason::unsupported_opcode, "an operator");
  ACCEL_TRY(Operand left, read_lanes(capture, left_ref));
  ACCEL_TRY(Operand right, read_lanes(capture, right_ref));
  if (left.is_array() || right.is_array()) return array_operation(capture, *op, inplace, left, right, temporaries);
  if (*op == Op::matmul) return fail(Reason::will_raise, "@ of scalars");
  if (is_complex_and_float(left, right)) return python_binary(capture, number, left, as_python_float(right));
  if (is_python_number(left) && is_python_number(right)) return python_binary(capture, number, left, right);
  return scalar_operation(capture, *op, left, right);
}

Result<Ref> array_unary(Capture& capture, char sign, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_lanes(capture, ref));
  Op op = sign == '-' ? Op::negative : sign == '+' ? Op::positive : Op::invert;
  if (operand.is_array()) return apply_ufunc(capture, op, {ref});
  if (!is_python_number(operand)) {
    EventCall events(capture, std::string("scalar ") + op_info(op).name);
    DType dtype = operand.type.dtype;
    if (reports_overflow(op, dtype)) return integer_scalar_operation(capture, op, {operand}, {dtype, dtype});
    if (op == Op::positive && operand.type.dtype == DType::bool_) return fail(Reason::unsupported_value, "+ of a NumPy bool");
    return apply_ufunc(capture, op, {ref});
  }
  return python_unary(capture, sign, operand);
}

Result<Ref> array_compare(Capture& capture, int op, const Ref& left_ref, const Ref& right_ref) {
  ACCEL_TRY(Operand left, read_lanes(capture, left_ref));
  ACCEL_TRY(Operand right, read_lanes(capture, right_ref));
  if (is_complex_and_float(left, right)) return python_comparison(capture, comparison_op(op), left, as_python_float(right));
  if (is_python_number(left) && is_python_number(right)) return python_comparison(capture, comparison_op(op), left, right);
  return apply_ufunc(capture, comparison_op(op), {left.ref, right.ref});
}

}  // namespace accel
