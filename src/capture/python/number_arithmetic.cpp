// Python's operators on its own numbers.

#include <opcode.h>

#include <limits>

#include "capture/python/numbers/scalar_expressions.h"
#include "cpython/version_facts.h"
#include "ndarray/array.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

constexpr int64_t lowest_int64 = std::numeric_limits<int64_t>::min();
constexpr int64_t exact_in_float = int64_t{1} << 53;
constexpr int64_t most_factors = 4;      // of an int power that is expanded into products
constexpr int64_t most_squarings = 100;  // complex_pow uses polar coordinates for larger exponents

bool is_int(const Operand& operand) { return operand.type.kind == Kind::py_int || operand.type.kind == Kind::py_bool; }
bool is_complex(const Operand& operand) { return operand.type.kind == Kind::py_complex; }
bool is_constant(const Operand& operand) { return operand.ref->kind == AbstractKind::constant; }

// The value of a constant int that fits int64.
std::optional<int64_t> constant_int(const Operand& operand) {
  if (!is_constant(operand) || !PyLong_Check(operand.ref->object.get())) return std::nullopt;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(operand.ref->object.get(), &overflow);
  if (overflow != 0) return std::nullopt;
  return value;
}

// Whether a symbol of the entry satisfies `operand comparison limit`, decided by a guard. False for run-time values.
bool is_guarded(Capture& capture, const Operand& operand, Comparison comparison, int64_t limit) {
  if (operand.ref->kind != AbstractKind::scalar) return false;
  const auto& dim = operand.ref->scalar.dim;
  return dim && !capture.facts().is_runtime(*dim) && capture.facts().decide(*dim, comparison, capture.dims().constant(limit));
}

Failure no_such_operator() { return fail(Reason::will_raise, "an operator that these numbers do not have"); }

// --- ints ---------------------------------------------------------------------------------------------------------------

// An operator on two ints.
struct IntOperation {
  Capture& capture;
  const Operand &left, &right;
  PythonNumbers numbers;
  ValueId a, b;

  ValueId is(Op op, ValueId v, int64_t limit) { return numbers.test(op, v, numbers.integer(limit)); }
  ValueId apply(Op op, ValueId x, ValueId y) { return numbers.apply(op, {x, y}, DType::int64); }

  ValueId checked(Op op, ValueId x, ValueId y) {
    Builder::Checked out = capture.build().checked(op, x, y);
    numbers.need(numbers.negated(out.overflows));
    return out.value;
  }
  template <Op op>
  ValueId checked_pair() {
    return checked(op, a, b);
  }
  template <Op op>
  ValueId pair() {
    return apply(op, a, b);
  }
  void need_nonzero_divisor() {
    auto known = constant_int(right);
    if ((known && *known != 0) || is_guarded(capture, right, Comparison::ne, 0)) return;
    numbers.need(is(Op::not_equal, b, 0));
  }
  // -2**63 // -1 is the only quotient that does not fit int64.
  void need_quotient_that_fits() {
    auto known = constant_int(right);
    if (known && *known != -1) return;
    numbers.need(numbers.either(is(Op::not_equal, a, lowest_int64), is(Op::not_equal, b, -1)));
  }
  ValueId quotient() {
    need_nonzero_divisor();
    need_quotient_that_fits();
    return apply(Op::floor_divide, a, b);
  }
  ValueId remainder() {
    need_nonzero_divisor();
    return apply(Op::remainder, a, b);
  }
  ValueId shifted_left() {
    ValueId out = apply(Op::left_shift, a, b);
    numbers.need(numbers.both(is(Op::greater_equal, b, 0), is(Op::less, b, 63)));
    numbers.need(numbers.test(Op::equal, apply(Op::right_shift, out, b), a));
    return out;
  }
  ValueId shifted_right() {
    auto known = constant_int(right);
    if (!known || *known < 0) numbers.need(is(Op::greater_equal, b, 0));
    return apply(Op::right_shift, a, b);
  }
  // If both ints are exact as floats, dividing them rounds once, as CPython does.
  void need_exact_float(const Operand& operand, ValueId v) {
    if (auto known = constant_int(operand); known && *known <= exact_in_float && *known >= -exact_in_float) return;
    if (is_guarded(capture, operand, Comparison::le, exact_in_float) &&
        is_guarded(capture, operand, Comparison::ge, -exact_in_float))
      return;
    numbers.need(numbers.both(is(Op::less_equal, v, exact_in_float), is(Op::greater_equal, v, -exact_in_float)));
  }
  ValueId true_quotient() {
    need_nonzero_divisor();
    need_exact_float(left, a);
    need_exact_float(right, b);
    return numbers.apply(Op::divide, {numbers.cast(a, DType::float64), numbers.cast(b, DType::float64)}, DType::float64);
  }
  ValueId power() {
    auto known = constant_int(right);
    if (known && *known < 0) {
      ValueId x = numbers.cast(a, DType::float64), y = numbers.cast(b, DType::float64);
      ValueId out = numbers.apply(Op::math_pow, {x, y}, DType::float64);
      numbers.need_no_error(out, x, y);
      return out;
    }
    if (known && *known > 0 && *known <= most_factors) {
      ValueId out = a;
      for (int64_t k = 1; k < *known; ++k) out = checked(Op::multiply, out, a);
      return out;
    }
    if (!known) numbers.need(is(Op::greater_equal, b, 0));
    numbers.need(numbers.negated(numbers.test(Op::int_power_overflows, a, b)));
    return apply(Op::int_power, a, b);
  }
};

// How an operator on two ints is computed, and for which operands and why it is left to the interpreter (no text: never).
struct IntRule {
  int op;
  ValueId (IntOperation::*compute)();
  const char* left_out = nullptr;
  Reason reason = Reason::will_raise;
};

constexpr IntRule int_rules[] = {
    {NB_ADD, &IntOperation::checked_pair<Op::add>, "an int beyond int64", Reason::integer_overflow},
    {NB_SUBTRACT, &IntOperation::checked_pair<Op::subtract>, "an int beyond int64", Reason::integer_overflow},
    {NB_MULTIPLY, &IntOperation::checked_pair<Op::multiply>, "an int beyond int64", Reason::integer_overflow},
    {NB_FLOOR_DIVIDE, &IntOperation::quotient, "integer division or modulo by zero"},
    {NB_REMAINDER, &IntOperation::remainder, "integer division or modulo by zero"},
    {NB_TRUE_DIVIDE, &IntOperation::true_quotient, "division by zero"},
    {NB_POWER, &IntOperation::power, "a power beyond int64", Reason::integer_overflow},
    {NB_LSHIFT, &IntOperation::shifted_left, "a shift beyond int64", Reason::integer_overflow},
    {NB_RSHIFT, &IntOperation::shifted_right, "negative shift count"},
    {NB_AND, &IntOperation::pair<Op::bitwise_and>},
    {NB_OR, &IntOperation::pair<Op::bitwise_or>},
    {NB_XOR, &IntOperation::pair<Op::bitwise_xor>},
};

Result<Ref> int_operation(Capture& capture, int op, const Operand& left, const Operand& right) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId a, numbers.as_integer(left.ref));
  ACCEL_TRY(ValueId b, numbers.as_integer(right.ref));
  IntOperation o{capture, left, right, numbers, a, b};
  for (const IntRule& rule : int_rules) {
    if (rule.op != op) continue;
    ValueId out = (o.*rule.compute)();
    return rule.left_out ? o.numbers.settled(out, rule.left_out, rule.reason) : capture.values().scalar(out);
  }
  return no_such_operator();
}

// & | ^ of two bools.
std::optional<Op> bool_operation(int op) {
  if (op == NB_AND) return Op::bitwise_and;
  if (op == NB_OR) return Op::bitwise_or;
  if (op == NB_XOR) return Op::bitwise_xor;
  return std::nullopt;
}

// --- floats -------------------------------------------------------------------------------------------------------------

void need_nonzero(Capture& capture, PythonNumbers& numbers, const Operand& operand, ValueId v) {
  bool known = is_constant(operand) ? !is_constant_number(operand.ref, 0) : is_guarded(capture, operand, Comparison::ne, 0);
  if (!known) numbers.need(numbers.test(Op::not_equal, v, numbers.real(0)));
}

// Operators of floats and complex numbers that never raise.
bool never_fails(int op) { return op == NB_ADD || op == NB_SUBTRACT || op == NB_MULTIPLY; }

Result<Ref> float_operation(Capture& capture, int op, const Operand& left, const Operand& right) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId a, numbers.as_real(left.ref));
  ACCEL_TRY(ValueId b, numbers.as_real(right.ref));
  auto apply = [&](Op kernel) { return numbers.apply(kernel, {a, b}, DType::float64); };
  if (never_fails(op)) return capture.values().scalar(apply(*binary_op(op)));
  auto divided = [&](Op kernel) {
    need_nonzero(capture, numbers, right, b);
    return numbers.settled(apply(kernel), "division by zero");
  };
  switch (op) {
    case NB_TRUE_DIVIDE:
      return divided(Op::divide);
    case NB_FLOOR_DIVIDE:
      return divided(Op::float_floor_divide);
    case NB_REMAINDER:
      return divided(Op::float_remainder);
    case NB_POWER: {  // A NaN result of numbers means a complex result, infinity of finite numbers OverflowError or
                      // ZeroDivisionError
      ValueId out = apply(Op::math_pow);
      numbers.need_no_error(out, a, b);
      return numbers.settled(out, "a power that is no float");
    }
    default:
      return no_such_operator();
  }
}

// --- complex ------------------------------------------------------------------------------------------------------------

// CPython's complex_pow for small integral exponents: repeated squaring from 1, and for negative ones the reciprocal.
std::optional<int64_t> small_exponent(const Operand& operand) {
  if (!is_constant(operand)) return std::nullopt;
  PyObject* object = operand.ref->object.get();
  Py_complex value = PyComplex_AsCComplex(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  for (int64_t n = -most_squarings; n <= most_squarings; ++n) {
    if (value.imag == 0 && value.real == static_cast<double>(n)) return n;
  }
  return std::nullopt;
}

Result<Ref> complex_power(Capture& capture, const Operand& right, PythonNumbers& numbers, ValueId base) {
  auto exponent = small_exponent(right);
  if (!exponent) return fail(Reason::unsupported_value, "a complex number to a power that is no small whole number");
  auto product = [&](ValueId a, ValueId b) { return numbers.apply(complex_product, {a, b}, DType::complex128); };
  ValueId one = numbers.complex(numbers.real(1), numbers.real(0)), out = one, factor = base;
  for (int64_t rest = std::abs(*exponent); rest > 0; rest /= 2) {
    if (rest % 2 != 0) out = product(out, factor);
    if (rest > 1) factor = product(factor, factor);
  }
  ValueId zero = numbers.complex(numbers.real(0), numbers.real(0));
  if (*exponent < 0) numbers.need(numbers.test(Op::not_equal, out, zero));
  if (*exponent <= 0) out = numbers.apply(complex_quotient, {one, out}, DType::complex128);
  numbers.need(numbers.negated(numbers.apply(Op::isinf, {out}, DType::bool_)));
  return numbers.settled(out, "complex exponentiation");
}

// left op right, exactly one of which is complex, where complex_keeps_reals.
Result<Ref> mixed_operation(Capture& capture, int op, const Operand& left, const Operand& right) {
  PythonNumbers numbers(capture);
  const bool is_left = is_complex(left);
  ACCEL_TRY(ValueId z, numbers.as_complex(is_left ? left.ref : right.ref));
  ACCEL_TRY(ValueId x, numbers.as_real(is_left ? right.ref : left.ref));
  const ValueId real = numbers.part(z, false), imag = numbers.part(z, true);
  auto apply = [&](Op kernel, ValueId v) {
    return numbers.apply(kernel, is_left ? std::vector<ValueId>{v, x} : std::vector<ValueId>{x, v}, DType::float64);
  };
  if (op == NB_ADD) return capture.values().scalar(numbers.complex(apply(Op::add, real), imag));
  if (op == NB_SUBTRACT) {
    const ValueId rest = is_left ? imag : numbers.apply(Op::negative, {imag}, DType::float64);
    return capture.values().scalar(numbers.complex(apply(Op::subtract, real), rest));
  }
  if (op == NB_MULTIPLY) return capture.values().scalar(numbers.complex(apply(Op::multiply, real), apply(Op::multiply, imag)));
  if (op != NB_TRUE_DIVIDE) return no_such_operator();
  if (!is_left) {
    numbers.need(numbers.test(Op::not_equal, z, numbers.complex(numbers.real(0), numbers.real(0))));
    ValueId out = numbers.apply(Op::c99_divide_real, {numbers.complex(x, numbers.real(0)), z}, DType::complex128);
    return numbers.settled(out, "complex division by zero");
  }
  need_nonzero(capture, numbers, right, x);
  return numbers.settled(numbers.complex(apply(Op::divide, real), apply(Op::divide, imag)), "complex division by zero");
}

Result<Ref> complex_operation(Capture& capture, int op, const Operand& left, const Operand& right) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId a, numbers.as_complex(left.ref));
  if (op == NB_POWER) return complex_power(capture, right, numbers, a);
  if (complex_keeps_reals && !(is_complex(left) && is_complex(right))) return mixed_operation(capture, op, left, right);
  ACCEL_TRY(ValueId b, numbers.as_complex(right.ref));
  auto apply = [&](Op kernel) { return numbers.apply(kernel, {a, b}, DType::complex128); };
  if (op == NB_MULTIPLY) return capture.values().scalar(apply(complex_product));
  if (never_fails(op)) return capture.values().scalar(apply(*binary_op(op)));
  if (op != NB_TRUE_DIVIDE) return no_such_operator();
  ValueId zero = numbers.complex(numbers.real(0), numbers.real(0));
  numbers.need(numbers.test(Op::not_equal, b, zero));
  return numbers.settled(apply(complex_quotient), "complex division by zero");
}

// Comparison with a complex number: only == and != are defined.
Result<Ref> complex_comparison(Capture& capture, Op op, const Operand& left, const Operand& right) {
  if (op != Op::equal && op != Op::not_equal) return fail(Reason::will_raise, "an ordering of complex numbers");
  PythonNumbers numbers(capture);
  if (is_complex(left) && is_complex(right)) {
    ACCEL_TRY(ValueId a, numbers.as_complex(left.ref));
    ACCEL_TRY(ValueId b, numbers.as_complex(right.ref));
    return capture.values().scalar(numbers.test(op, a, b));
  }
  const Operand &wide = is_complex(left) ? left : right, &narrow = is_complex(left) ? right : left;
  ACCEL_TRY(ValueId a, numbers.as_complex(wide.ref));
  ACCEL_TRY(ValueId b, is_int(narrow) ? numbers.as_integer(narrow.ref) : numbers.as_real(narrow.ref));
  ValueId real = numbers.test(op, numbers.part(a, false), b);
  ValueId imag = numbers.test(op, numbers.part(a, true), numbers.real(0));
  return capture.values().scalar(op == Op::equal ? numbers.both(real, imag) : numbers.either(real, imag));
}

}  // namespace

Result<Ref> python_binary(Capture& capture, int op, const Operand& left, const Operand& right) {
  if (is_complex(left) || is_complex(right)) return complex_operation(capture, op, left, right);
  if (!is_int(left) || !is_int(right)) return float_operation(capture, op, left, right);
  auto of_bools = bool_operation(op);
  if (of_bools && left.type.kind == Kind::py_bool && right.type.kind == Kind::py_bool) {
    ACCEL_TRY(ValueId a, capture.values().scalar_value(left.ref));
    ACCEL_TRY(ValueId b, capture.values().scalar_value(right.ref));
    return capture.values().scalar(PythonNumbers(capture).test(*of_bools, a, b));
  }
  return int_operation(capture, op, left, right);
}

Result<Ref> python_divmod(Capture& capture, const Operand& left, const Operand& right) {
  if (is_complex(left) || is_complex(right)) return fail(Reason::will_raise, "can't take floor of complex number.");
  PythonNumbers numbers(capture);
  if (is_int(left) && is_int(right)) {
    ACCEL_TRY(ValueId a, numbers.as_integer(left.ref));
    ACCEL_TRY(ValueId b, numbers.as_integer(right.ref));
    IntOperation o{capture, left, right, numbers, a, b};
    ValueId quotient = o.quotient(), remainder = o.apply(Op::remainder, a, b);
    ACCEL_TRY(Ref first, o.numbers.settled(quotient, "integer division or modulo by zero"));
    return capture.values().tuple({first, capture.values().scalar(remainder)});
  }
  ACCEL_TRY(ValueId a, numbers.as_real(left.ref));
  ACCEL_TRY(ValueId b, numbers.as_real(right.ref));
  need_nonzero(capture, numbers, right, b);
  ValueId quotient = numbers.apply(Op::float_floor_divide, {a, b}, DType::float64);
  ValueId remainder = numbers.apply(Op::float_remainder, {a, b}, DType::float64);
  ACCEL_TRY(Ref first, numbers.settled(quotient, "float divmod()"));
  return capture.values().tuple({first, capture.values().scalar(remainder)});
}

Result<Ref> python_unary(Capture& capture, char op, const Operand& operand) {
  PythonNumbers numbers(capture);
  if (!is_int(operand)) {
    if (op == '~') return no_such_operator();
    if (op == '+') return operand.ref;
    ACCEL_TRY(ValueId v, capture.values().scalar_value(operand.ref));
    return capture.values().scalar(numbers.apply(Op::negative, {v}, operand.type.dtype));
  }
  if (op == '+') return python_integer(capture, operand.ref);
  ACCEL_TRY(ValueId v, numbers.as_integer(operand.ref));
  if (op == '~' && operand.type.kind == Kind::py_bool) return fail(Reason::unsupported_value, "~ of a bool warns");
  if (op == '~') return capture.values().scalar(numbers.apply(Op::invert, {v}, DType::int64));
  if (operand.type.kind != Kind::py_bool) numbers.need(numbers.test(Op::not_equal, v, numbers.integer(lowest_int64)));
  return numbers.settled(numbers.apply(Op::negative, {v}, DType::int64), "an int beyond int64", Reason::integer_overflow);
}

// Ints and floats are compared by their exact values.
Result<Ref> python_comparison(Capture& capture, Op op, const Operand& left, const Operand& right) {
  if (is_complex(left) || is_complex(right)) return complex_comparison(capture, op, left, right);
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId a, is_int(left) ? numbers.as_integer(left.ref) : numbers.as_real(left.ref));
  ACCEL_TRY(ValueId b, is_int(right) ? numbers.as_integer(right.ref) : numbers.as_real(right.ref));
  return capture.values().scalar(numbers.test(op, a, b));
}

}  // namespace accel
