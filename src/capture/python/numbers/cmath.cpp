// Functions of `cmath` on run-time numbers: CPython's formulas. Special cases and errors are left to CPython.

#include "capture/protocol/builtin_calls.h"
#include "capture/python/numbers/scalar_expressions.h"

namespace accel {

namespace {

// The arguments as complex numbers; nullopt: all are constants.
Result<std::optional<std::vector<ValueId>>> complex_arguments(Capture& capture, PythonNumbers& numbers,
                                                              const CallArguments& arguments, size_t most = 1) {
  return number_arguments(capture, arguments, 1, most,
                          [&](const Ref& argument, DType) { return numbers.as_complex(argument); });
}

ValueId is_finite(PythonNumbers& numbers, ValueId z) {
  ValueId real = numbers.apply(Op::isfinite, {numbers.part(z, false)}, DType::bool_);
  return numbers.both(real, numbers.apply(Op::isfinite, {numbers.part(z, true)}, DType::bool_));
}

// The result of a cmath op. The kernel returns NaN where it does not implement the function.
ValueId computed(PythonNumbers& numbers, Op op, std::vector<ValueId> operands) {
  ValueId out = numbers.apply(op, std::move(operands), DType::complex128);
  numbers.need(is_finite(numbers, out));
  return out;
}

ValueId phase_of(PythonNumbers& numbers, ValueId z) {
  return numbers.apply(Op::math_atan2, {numbers.part(z, true), numbers.part(z, false)}, DType::float64);
}

constexpr const char* special = "a special case or an error of cmath";

}  // namespace

Result<Ref> capture_cmath_function(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto op = op_from_name("cmath_" + name_of_builtin(callable));
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, complex_arguments(capture, numbers, arguments));
  if (!op || !given) return fold_call(capture, callable, arguments);
  return numbers.settled(computed(numbers, *op, *given), special);
}

// log(z) and log(z, base).
Result<Ref> capture_cmath_log(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, complex_arguments(capture, numbers, arguments, 2));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId out = computed(numbers, Op::cmath_log, {(*given)[0]});
  if (given->size() == 2) out = computed(numbers, complex_quotient, {out, computed(numbers, Op::cmath_log, {(*given)[1]})});
  return numbers.settled(out, special);
}

// isfinite, isinf and isnan.
Result<Ref> capture_cmath_test(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  auto op = op_from_name(name_of_builtin(callable));
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, complex_arguments(capture, numbers, arguments));
  if (!op || !given) return fold_call(capture, callable, arguments);
  ValueId z = (*given)[0];
  if (*op == Op::isfinite) return capture.values().scalar(is_finite(numbers, z));
  ValueId real = numbers.apply(*op, {numbers.part(z, false)}, DType::bool_);
  return capture.values().scalar(numbers.either(real, numbers.apply(*op, {numbers.part(z, true)}, DType::bool_)));
}

Result<Ref> capture_cmath_phase(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, complex_arguments(capture, numbers, arguments));
  if (!given) return fold_call(capture, callable, arguments);
  return capture.values().scalar(phase_of(numbers, (*given)[0]));
}

Result<Ref> capture_cmath_polar(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(auto given, complex_arguments(capture, numbers, arguments));
  if (!given) return fold_call(capture, callable, arguments);
  ValueId z = (*given)[0], real = numbers.part(z, false), imag = numbers.part(z, true);
  ValueId size = numbers.apply(Op::math_hypot, {real, imag}, DType::float64);
  numbers.need_no_error(size, real, imag);
  ACCEL_TRY(Ref length, numbers.settled(size, special));
  return capture.values().tuple({length, capture.values().scalar(phase_of(numbers, z))});
}

Result<Ref> capture_cmath_rect(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  const Ref &size = arguments.positional[0], &angle = arguments.positional[1];
  if (capture.constants().is_constant(size) && capture.constants().is_constant(angle))
    return fold_call(capture, callable, arguments);
  for (const Ref& argument : {size, angle}) {
    auto operand = as_operand(capture, argument);
    if (!operand || operand->is_array() || dtype_kind(operand->type.dtype) == 'c')
      return fail(Reason::unsupported_argument, "rect of these objects");
  }
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId r, numbers.as_real(size));
  ACCEL_TRY(ValueId phi, numbers.as_real(angle));
  return numbers.settled(computed(numbers, Op::cmath_rect, {r, phi}), special);
}

}  // namespace accel
