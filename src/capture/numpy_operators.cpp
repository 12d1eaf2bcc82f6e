// Python's operators where an array or NumPy scalar takes part, and on Python floats.

#include <opcode.h>

#include <cmath>

#include "capture/numpy_arguments.h"
#include "capture/numpy_overflow.h"
#include "capture/numpy_primitives.h"
#include "capture/numpy_ufunc.h"
#include "capture/predicated.h"
#include "ndarray/array.h"

namespace accel {

namespace {

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

Op comparison_op(int op) {
  static const Op table[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal, Op::greater, Op::greater_equal};
  return table[op];
}

using Kind = OperandType::Kind;

bool is_python(const Operand& operand) { return !operand.is_array() && operand.type.kind != Kind::numpy_scalar; }

// Whether bool arrays are squared as int8 (from NumPy 2.3.2 on) or go through power.
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

// Whether a Python number is exactly `value`, by a guard where it is symbolic.
bool is_number(Capture& capture, const Operand& operand, double value) {
  if (operand.ref->kind == AbstractKind::scalar && operand.ref->scalar.dim && std::trunc(value) == value) {
    return capture.decide_equal(*operand.ref->scalar.dim, capture.dims().constant(static_cast<int64_t>(value)));
  }
  if (operand.ref->kind != AbstractKind::constant) return false;
  PyObject* object = operand.ref->object.get();
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object) == value;
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && static_cast<double>(number) == value;
}

// array ** number: ndarray.__pow__ calls other ufuncs for some exponents (fast_scalar_power).
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

Result<Ref> array_operation(Capture& capture, Op op, bool inplace, const Operand& left, const Operand& right) {
  UfuncOptions options;
  if (inplace && left.is_array()) {
    if (op == Op::matmul) return fail(Reason::unsupported_call, "@=");
    options.outs = {left.ref};
  }
  if (op == Op::power) {
    if (left.is_array() && is_python(right)) {
      if (right.ref->kind == AbstractKind::scalar && right.type.kind == Kind::py_float) capture.promote_inputs_of(right.ref);
      if (auto fast = fast_power(capture, left, right)) return apply_ufunc(capture, *fast, {left.ref}, options);
    }
  }
  return apply_ufunc(capture, op, {left.ref, right.ref}, options);
}

// An operation of NumPy integer scalars that warns when it overflows.
Result<Ref> integer_scalar_operation(Capture& capture, Op op, const std::vector<Operand>& operands,
                                     const std::vector<DType>& dtypes) {
  if (!can_see_overflow(op)) {
    for (const Operand& operand : operands) capture.promote_inputs_of(operand.ref);
    return fail(Reason::floating_point_event, "an overflow of NumPy integers would have to be seen");
  }
  std::vector<ValueId> values;
  for (size_t k = 0; k < operands.size(); ++k) {
    ACCEL_TRY(ValueId value, operand_value(capture, operands[k], dtypes[k]));
    values.push_back(value);
  }
  ValueId result = capture.build().pointwise(op, values, {dtypes.back()}, ValueKind::numpy_scalar);
  report_overflow(capture, op, values, result);
  return capture.scalar(result);
}

Result<Ref> scalar_operation(Capture& capture, Op op, const Operand& left, const Operand& right) {
  std::vector<OperandType> types = {left.type, right.type};
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc_of(op), types, nullptr, false));
  if (reports_overflow(op, dtypes[0])) return integer_scalar_operation(capture, op, {left, right}, dtypes);
  if (op == Op::power && dtype_kind(dtypes[0]) == 'f' && is_python(right) && is_number(capture, right, 2)) {
    return apply_ufunc(capture, Op::square, {left.ref});
  }
  if (dtype_kind(dtypes[0]) == 'c' && op != Op::add && op != Op::subtract && op != Op::divide) {
    return fail(Reason::unsupported_value, "arithmetic of NumPy complex scalars");
  }
  return apply_ufunc(capture, op, {left.ref, right.ref});
}

// --- Python numbers -----------------------------------------------------------------------------------------------------

Failure at_run_time(Capture& capture, const Operand& left, const Operand& right) {
  capture.promote_inputs_of(left.ref);
  capture.promote_inputs_of(right.ref);
  return fail(Reason::unsupported_value, "arithmetic of Python numbers known at run time only");
}

// A Python int or float as a float64 value, exact as Python's conversion is.
Result<ValueId> as_float(Capture& capture, const Operand& operand) { return operand_value(capture, operand, DType::float64); }

bool is_real_number(const Operand& operand) { return operand.type.kind == Kind::py_int || operand.type.kind == Kind::py_float; }

// Division by zero raises in Python: the divisor must be known.
Result<bool> is_nonzero(Capture& capture, const Operand& divisor) {
  if (divisor.ref->kind == AbstractKind::scalar && divisor.ref->scalar.dim) {
    return capture.decide(*divisor.ref->scalar.dim, Comparison::ne, capture.dims().constant(0));
  }
  if (divisor.ref->kind != AbstractKind::constant) {
    capture.promote_inputs_of(divisor.ref);
    return fail(Reason::unsupported_value, "division by a Python number known at run time only");
  }
  return !is_number(capture, divisor, 0);
}

// int / int is rounded once in Python: both must be exact as floats.
bool is_exact_float(Capture& capture, const Operand& operand) {
  if (operand.type.kind != Kind::py_int) return true;
  auto dim = read_dim(capture, operand.ref);
  if (!dim.ok()) return false;
  Dim limit = capture.dims().constant(int64_t{1} << 53), low = capture.dims().constant(-(int64_t{1} << 53));
  return capture.decide(*dim, Comparison::le, limit) && capture.decide(*dim, Comparison::ge, low);
}

Result<Ref> python_operation(Capture& capture, int op, const Operand& left, const Operand& right) {
  if (!is_real_number(left) || !is_real_number(right)) return at_run_time(capture, left, right);
  bool both_ints = left.type.kind == Kind::py_int && right.type.kind == Kind::py_int;
  if (both_ints && op != NB_TRUE_DIVIDE) return at_run_time(capture, left, right);
  Op kernel = Op::add;
  switch (op) {
    case NB_ADD:
      break;
    case NB_SUBTRACT:
      kernel = Op::subtract;
      break;
    case NB_MULTIPLY:
      kernel = Op::multiply;
      break;
    case NB_TRUE_DIVIDE: {
      kernel = Op::divide;
      ACCEL_TRY(bool nonzero, is_nonzero(capture, right));
      if (!nonzero) return fail(Reason::will_raise, "division by zero");
      if (both_ints && (!is_exact_float(capture, left) || !is_exact_float(capture, right)))
        return at_run_time(capture, left, right);
      break;
    }
    case NB_POWER: {
      // x * x is the correctly rounded square; Python's pow is within 1 ULP of it.
      if (!is_number(capture, right, 2)) return at_run_time(capture, left, right);
      ACCEL_TRY(ValueId base, as_float(capture, left));
      return capture.scalar(capture.build().pointwise(Op::multiply, {base, base}, {DType::float64}, ValueKind::py_scalar));
    }
    default:
      return at_run_time(capture, left, right);
  }
  ACCEL_TRY(ValueId l, as_float(capture, left));
  ACCEL_TRY(ValueId r, as_float(capture, right));
  return capture.scalar(capture.build().pointwise(kernel, {l, r}, {DType::float64}, ValueKind::py_scalar));
}

Result<Ref> python_comparison(Capture& capture, int op, const Operand& left, const Operand& right) {
  bool exact = is_real_number(left) && is_real_number(right) && is_exact_float(capture, left) && is_exact_float(capture, right);
  if (!exact) return at_run_time(capture, left, right);
  ACCEL_TRY(ValueId l, as_float(capture, left));
  ACCEL_TRY(ValueId r, as_float(capture, right));
  return capture.scalar(capture.build().pointwise(comparison_op(op), {l, r}, {DType::bool_}, ValueKind::py_scalar));
}

}  // namespace

Result<Ref> array_binary(Capture& capture, int number, bool inplace, const Ref& left_ref, const Ref& right_ref) {
  auto op = binary_op(number);
  if (!op) return fail(Reason::unsupported_opcode, "an operator");
  ACCEL_TRY(Operand left, read_lanes(capture, left_ref));
  ACCEL_TRY(Operand right, read_lanes(capture, right_ref));
  if (left.is_array() || right.is_array()) return array_operation(capture, *op, inplace, left, right);
  if (!is_python(left) || !is_python(right)) {
    if (*op == Op::matmul) return fail(Reason::will_raise, "@ of scalars");
    return scalar_operation(capture, *op, left, right);
  }
  return python_operation(capture, number, left, right);
}

Result<Ref> array_unary(Capture& capture, char sign, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_lanes(capture, ref));
  Op op = sign == '-' ? Op::negative : sign == '+' ? Op::positive : Op::invert;
  if (operand.is_array()) return apply_ufunc(capture, op, {ref});
  if (!is_python(operand)) {
    DType dtype = operand.type.dtype;
    if (reports_overflow(op, dtype)) return integer_scalar_operation(capture, op, {operand}, {dtype, dtype});
    if (op == Op::positive && operand.type.dtype == DType::bool_) return fail(Reason::unsupported_value, "+ of a NumPy bool");
    return apply_ufunc(capture, op, {ref});
  }
  if (operand.type.kind != Kind::py_float || op == Op::invert) return at_run_time(capture, operand, operand);
  if (op == Op::positive) return ref;
  ACCEL_TRY(ValueId value, as_float(capture, operand));
  return capture.scalar(capture.build().pointwise(op, {value}, {DType::float64}, ValueKind::py_scalar));
}

Result<Ref> array_compare(Capture& capture, int op, const Ref& left_ref, const Ref& right_ref) {
  ACCEL_TRY(Operand left, read_lanes(capture, left_ref));
  ACCEL_TRY(Operand right, read_lanes(capture, right_ref));
  if (!is_python(left) || !is_python(right)) return apply_ufunc(capture, comparison_op(op), {left.ref, right.ref});
  return python_comparison(capture, op, left, right);
}

}  // namespace accel
