// Functions of `math` on run-time numbers: those of the C library, with CPython's errors.

#include <algorithm>

#include "capture/protocol/builtin_calls.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "ndarray/array.h"

namespace accel {

namespace {

constexpr double pi = 3.141592653589793238462643383279502884197;

// Functions that never raise.
bool is_total(Op op) {
  return op == Op::math_atan || op == Op::math_tanh || op == Op::math_asinh || op == Op::math_cbrt || op == Op::math_erf ||
         op == Op::math_erfc || op == Op::math_ulp;
}

// The arguments as floats; nullopt: all are constants.
Result<std::optional<std::vector<ValueId>>> float_arguments(Capture& capture, PythonNumbers& numbers,
                                                            const CallArguments& arguments, size_t least, size_t most) {
  return number_arguments(capture, arguments, least, most, [&](const Ref& argument, DType dtype) -> Result<ValueId> {
    if (dtype_kind(dtype) == 'c') return fail(Reason::will_raise, "must be real number, not complex");
    return numbers.as_real(argument);
  });
}

// f(x) for a float function of the C library.
ValueId call(PythonNumbers& numbers, Op op, ValueId x) {
  ValueId out = numbers.apply(op, {x}, DType::float64);
  if (!is_total(op)) numbers.need_no_error(out, x, x);
  return out;
}

// The integral part of a number as an int, computed by `op`.
Result<Ref> whole(Capture& capture, PyObject* callable, const CallArguments& arguments, Op op) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  auto operand = as_operand(capture, value);
  if (operand && operand->type.kind == OperandType::Kind::py_int) return value;
  bool numpy = operand && operand->type.kind == OperandType::Kind::numpy_scalar;
  if (numpy && op == Op::trunc && operand->type.dtype != DType::float64)
    return fail(Reason::unsupported_argument, "trunc of this NumPy scalar");
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 1));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId out = numbers.integer_of(numbers.apply(op, {(*given)[0]}, DType::float64));
  return numbers.settled(out, "no int64");
}

// The arguments of gcd and isqrt as ints; nullopt if all are constants.
Result<std::optional<std::vector<ValueId>>> int_arguments(Capture& capture, PythonNumbers& numbers,
                                                          const CallArguments& arguments) {
  std::vector<ValueId> values;
  bool known = true;
  for (const Ref& argument : arguments.positional) {
    auto operand = as_operand(capture, argument);
    char kind = operand && !operand->is_array() ? dtype_kind(operand->type.dtype) : ' ';
    if (kind != 'i' && kind != 'b') return fail(Reason::unsupported_argument, "an integer function of this object");
    known = known && argument->kind == AbstractKind::constant;
  }
  if (known) return std::optional<std::vector<ValueId>>();
  for (const Ref& argument : arguments.positional) {
    ACCEL_TRY(ValueId value, numbers.as_integer(argument));
    values.push_back(value);
  }
  return std::optional(std::move(values));
}

}  // namespace

Result<std::optional<std::vector<ValueId>>> number_arguments(Capture& capture, const CallArguments& arguments, size_t least,
                                                             size_t most, const ConvertNumber& convert) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, least, most));
  bool known = std::all_of(arguments.positional.begin(), arguments.positional.end(),
                           [](const Ref& ref) { return ref->kind == AbstractKind::constant; });
  if (known) return std::optional<std::vector<ValueId>>();
  std::vector<ValueId> values;
  for (const Ref& argument : arguments.positional) {
    auto operand = as_operand(capture, argument);
    if (!operand || operand->is_array()) return fail(Reason::unsupported_argument, "a function of numbers of this object");
    ACCEL_TRY(ValueId value, convert(argument, operand->type.dtype));
    values.push_back(value);
  }
  return std::optional(std::move(values));
}

std::string name_of_builtin(PyObject* function) {
  return PyCFunction_Check(function) ? reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_name : "";
}

// sin, exp, ... and atan2, fmod, nextafter, pow, remainder.
Result<Ref> capture_math_function(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto op = op_from_name("math_" + name_of_builtin(callable));
  if (!op) return fold_call(capture, callable, arguments);
  auto arity = static_cast<size_t>(op_info(*op).arity);
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, arity, arity));
  if (!given) return fold_call(capture, callable, arguments);
  if (arity == 1) return numbers.settled(call(numbers, *op, (*given)[0]), "math domain or range error");
  ValueId out = numbers.apply(*op, *given, DType::float64);
  numbers.need_no_error(out, (*given)[0], (*given)[1]);
  return numbers.settled(out, "math domain or range error");
}

// math.sqrt, which rounds correctly. For a size that a guard shows to be >= 0 no check is needed.
Result<Ref> capture_math_sqrt(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 1));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId x = (*given)[0];
  auto d = known_dim(capture, arguments.positional[0]);
  bool natural = d && !capture.facts().is_runtime(*d) && capture.facts().decide(*d, Comparison::ge, capture.dims().constant(0));
  ValueId out = numbers.apply(Op::sqrt, {x}, DType::float64);
  if (!natural) numbers.need_no_error(out, x, x);
  return numbers.settled(out, "math domain error");
}

// log(x) and log(x, base).
Result<Ref> capture_math_log(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 2));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId out = call(numbers, Op::math_log, (*given)[0]);
  if (given->size() == 2) {
    ValueId base = call(numbers, Op::math_log, (*given)[1]);
    numbers.need(numbers.test(Op::not_equal, base, numbers.real(0)));
    out = numbers.apply(Op::divide, {out, base}, DType::float64);
  }
  return numbers.settled(out, "math domain error");
}

// hypot of up to three numbers.
Result<Ref> capture_math_hypot(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 0, 3));
  if (!given) return fold_call(capture, callable, arguments);
  const std::vector<ValueId>& parts = *given;
  if (parts.size() == 1) return capture.values().scalar(numbers.apply(Op::absolute, parts, DType::float64));
  ValueId out = numbers.apply(parts.size() == 2 ? Op::math_norm : Op::math_norm_of_three, parts, DType::float64);
  numbers.need_no_error(out, parts[0], parts[1]);
  return numbers.settled(out, "a number that is subnormal, or beyond a float");
}

Result<Ref> capture_math_frexp(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 1));
  if (!given) return fold_call(capture, callable, arguments);
  Ref mantissa = capture.values().scalar(numbers.apply(Op::math_mantissa, *given, DType::float64));
  return capture.values().tuple({mantissa, capture.values().scalar(numbers.apply(Op::math_exponent, *given, DType::int64))});
}

Result<Ref> capture_math_ldexp(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  const Ref &number = arguments.positional[0], &power = arguments.positional[1];
  if (capture.constants().is_constant(number) && capture.constants().is_constant(power))
    return fold_call(capture, callable, arguments);
  if (capture.values().type_of(power) != &PyLong_Type) return fail(Reason::unsupported_argument, "ldexp by this object");
  auto operand = as_operand(capture, number);
  if (!operand || operand->is_array() || dtype_kind(operand->type.dtype) == 'c')
    return fail(Reason::unsupported_argument, "ldexp of this object");
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId x, numbers.as_real(number));
  ACCEL_TRY(ValueId exponent, numbers.as_integer(power));
  ValueId out = numbers.apply(Op::math_ldexp, {x, exponent}, DType::float64);
  numbers.need_no_error(out, x, x);
  return numbers.settled(out, "math range error");
}

Result<Ref> capture_math_modf(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 1));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId x = (*given)[0], whole = numbers.apply(Op::trunc, {x}, DType::float64);
  ValueId rest = numbers.apply(Op::subtract, {x, whole}, DType::float64);
  ValueId infinite = numbers.apply(Op::isinf, {x}, DType::bool_);
  ValueId part = numbers.apply(Op::copysign, {numbers.select(infinite, numbers.real(0), rest), x}, DType::float64);
  return capture.values().tuple({capture.values().scalar(part), capture.values().scalar(whole)});
}

// Functions that never raise and that NumPy has as well: fabs, copysign, isnan, isinf, isfinite.
Result<Ref> capture_math_plain(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto op = op_from_name(name_of_builtin(callable));
  if (!op) return fold_call(capture, callable, arguments);
  auto arity = static_cast<size_t>(op_info(*op).arity);
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, arity, arity));
  if (!given) return fold_call(capture, callable, arguments);
  bool test = *op == Op::isnan || *op == Op::isinf || *op == Op::isfinite;
  return capture.values().scalar(numbers.apply(*op, *given, test ? DType::bool_ : DType::float64));
}

Result<Ref> capture_math_angle(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, float_arguments(capture, numbers, arguments, 1, 1));
  if (!given) return fold_call(capture, callable, arguments);
  double factor = name_of_builtin(callable) == "degrees" ? 180.0 / pi : pi / 180.0;
  return capture.values().scalar(numbers.apply(Op::multiply, {(*given)[0], numbers.real(factor)}, DType::float64));
}

Result<Ref> capture_math_floor(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return whole(capture, callable, arguments, Op::floor);
}

Result<Ref> capture_math_ceil(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return whole(capture, callable, arguments, Op::ceil);
}

Result<Ref> capture_math_trunc(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return whole(capture, callable, arguments, Op::trunc);
}

// Only gcd of -2**63 and 0 or itself does not fit int64.
Result<Ref> capture_math_gcd(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, int_arguments(capture, numbers, arguments));
  if (!given || given->size() != 2 || !arguments.keywords.empty()) return fold_call(capture, callable, arguments);
  ValueId out = numbers.apply(Op::math_gcd, *given, DType::int64);
  numbers.need(numbers.test(Op::greater_equal, out, numbers.integer(0)));
  return numbers.settled(out, "an int beyond int64");
}

Result<Ref> capture_math_isqrt(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, int_arguments(capture, numbers, arguments));
  if (!given) return fold_call(capture, callable, arguments);
  numbers.need(numbers.test(Op::greater_equal, (*given)[0], numbers.integer(0)));
  return numbers.settled(numbers.apply(Op::math_isqrt, *given, DType::int64), "isqrt() argument must be nonnegative");
}

}  // namespace accel
