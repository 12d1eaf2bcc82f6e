#pragma once
// Python's ints, floats and complex numbers whose values are known at run time only: expressions of Python kind, and the
// conditions under which they are what CPython computes. Where a condition does not hold the graph is left before the
// instruction, and CPython does it: it raises, or makes an int beyond int64.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/protocol/operands.h"

namespace accel {

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
  // `v` as `dtype`, of Python kind.
  ValueId cast(ValueId v, DType dtype);
  ValueId complex(ValueId real, ValueId imag) { return apply(Op::compose, {real, imag}, DType::complex128); }
  ValueId part(ValueId v, bool imaginary) { return imaginary ? build_.imag(v) : build_.real(v); }
  DType dtype(ValueId v) const { return capture_.graph().type(v).dtype; }

  // A Python number (bool included) or NumPy scalar converted as int.__index__, float() and complex() do. Fails for constants
  // without such a value.
  Result<ValueId> as_integer(const Ref& ref);
  Result<ValueId> as_real(const Ref& ref);
  Result<ValueId> as_complex(const Ref& ref);
  // int(v), math.floor(v) and the like of a float that is already whole: it has to be in the range of int64.
  ValueId integer_of(ValueId whole);

  // --- conditions ---------------------------------------------------------------------------------------------------
  // `condition` has to hold.
  void need(ValueId condition);
  // A result of a function of the C library has to be none that CPython raises for.
  void need_no_error(ValueId result, ValueId a, ValueId b) {
    need(negated(apply(Op::math_fails, {result, a, b}, DType::bool_)));
  }
  // Leaves the graph where one of the conditions does not hold. At most once, before the instruction has any effect.
  // `reason`: integer_overflow where CPython does not raise but makes a larger int.
  Status settle(const char* detail, Reason reason = Reason::will_raise);
  // `result` after settle().
  Result<Ref> settled(ValueId result, const char* detail, Reason reason = Reason::will_raise);

 private:
  Capture& capture_;
  Builder& build_;
  ValueId needed_ = no_value;
};

// What Python's operators do when no NumPy scalar takes part and not both operands are constants.
Result<Ref> python_binary(Capture& capture, int op, const Operand& left, const Operand& right);  // NB_*
Result<Ref> python_unary(Capture& capture, char op, const Operand& operand);                     // '-', '+', '~'
Result<Ref> python_comparison(Capture& capture, Op op, const Operand& left, const Operand& right);
// floor(a / b) and the rest.
Result<Ref> python_divmod(Capture& capture, const Operand& left, const Operand& right);

// A Python int or bool that is int(value) of a bool or integer; uint64 has to fit.
Result<Ref> python_integer(Capture& capture, const Ref& value);

// .real and the like of a Python number; nullopt: no such attribute.
std::optional<Result<Ref>> python_attribute(Capture& capture, const Ref& value, std::string_view name);

// The ufunc of a binary operator, NB_*.
std::optional<Op> binary_op(int op);
bool is_python_number(const Operand& operand);
// Whether a constant Python number equals `value`.
bool is_constant_number(const Ref& ref, double value);

}  // namespace accel
