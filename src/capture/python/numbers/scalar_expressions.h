#pragma once
// Python ints, floats and complex numbers known at run time only: expressions of Python kind, and the conditions under which
// they equal what CPython computes. Where a condition fails, compiled code exits before the instruction, and CPython raises or
// makes an int beyond int64.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/protocol/operands.h"
#include "cpython/version_facts.h"

namespace accel {

// Python's operators on two complex numbers.
inline constexpr Op complex_product = complex_keeps_reals ? Op::c99_multiply : Op::multiply;
inline constexpr Op complex_quotient = complex_keeps_reals ? Op::c99_divide : Op::complex_divide;

class PythonNumbers {
 public:
  explicit PythonNumbers(Capture& capture) : capture_(capture), build_(capture.build()) {}

  // --- values -------------------------------------------------------------------------------------------------------
  ValueId integer(int64_t value) { return build_.constant(Literal::of_int(DType::int64, value), ValueKind::py_scalar); }
  ValueId real(double value) { return build_.constant(Literal::of_double(DType::float64, value), ValueKind::py_scalar); }
  ValueId apply(Op op, std::vector<ValueId> operands, DType dtype) {
    return build_.pointwise(op, std::move(operands), {dtype}, ValueKind::py_scalar);
  }
  ValueId test(Op op, ValueId a, ValueId b) { return apply(op, {a, b}, DType::bool_); }
  ValueId both(ValueId a, ValueId b) { return test(Op::logical_and, a, b); }
  ValueId either(ValueId a, ValueId b) { return test(Op::logical_or, a, b); }
  ValueId negated(ValueId a) { return apply(Op::logical_not, {a}, DType::bool_); }
  ValueId select(ValueId condition, ValueId yes, ValueId no) { return apply(Op::where, {condition, yes, no}, dtype(yes)); }
  // `v` cast to `dtype`, of Python kind.
  ValueId cast(ValueId v, DType dtype);
  ValueId complex(ValueId real, ValueId imag) { return apply(Op::compose, {real, imag}, DType::complex128); }
  ValueId part(ValueId v, bool imaginary) { return imaginary ? build_.imag(v) : build_.real(v); }
  DType dtype(ValueId v) const { return capture_.graph().type(v).dtype; }

  // A Python number (bool included) or NumPy scalar converted as by int.__index__, float() and complex(). Fails for constants
  // that cannot be converted.
  Result<ValueId> as_integer(const Ref& ref);
  Result<ValueId> as_real(const Ref& ref);
  Result<ValueId> as_complex(const Ref& ref);
  // The int of a float that is whole already; requires in compiled code that it fits int64.
  ValueId integer_of(ValueId whole);

  // --- conditions ---------------------------------------------------------------------------------------------------
  // Adds a condition that must hold.
  void need(ValueId condition);
  // Adds the condition that CPython does not raise for a result of a C library function.
  void need_no_error(ValueId result, ValueId a, ValueId b) {
    need(negated(apply(Op::math_fails, {result, a, b}, DType::bool_)));
  }
  // Exits the graph where a condition fails. Called at most once, before the instruction has any effect. `reason`:
  // integer_overflow where CPython makes a larger int instead of raising.
  Status settle(const char* detail, Reason reason = Reason::will_raise);
  // settle(), then `result` as a scalar.
  Result<Ref> settled(ValueId result, const char* detail, Reason reason = Reason::will_raise);

 private:
  Capture& capture_;
  Builder& build_;
  ValueId needed_ = no_value;
};

// Python's operators on operands without NumPy scalars that are not all constants.
Result<Ref> python_binary(Capture& capture, int op, const Operand& left, const Operand& right);  // NB_*
Result<Ref> python_unary(Capture& capture, char op, const Operand& operand);                     // '-', '+', '~'
Result<Ref> python_comparison(Capture& capture, Op op, const Operand& left, const Operand& right);
// The pair floor(a / b), a % b.
Result<Ref> python_divmod(Capture& capture, const Operand& left, const Operand& right);

// int(value) of a bool or integer, as a Python int; a uint64 must fit int64.
Result<Ref> python_integer(Capture& capture, const Ref& value);

// .real and similar attributes of a Python number; nullopt: no such attribute.
std::optional<Result<Ref>> python_attribute(Capture& capture, const Ref& value, std::string_view name);

// The op of a binary operator NB_*.
std::optional<Op> binary_op(int op);
bool is_python_number(const Operand& operand);
// Whether a constant Python number equals `value`.
bool is_constant_number(const Ref& ref, double value);

}  // namespace accel
