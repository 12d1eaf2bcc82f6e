#include "capture/numpy_overflow.h"

#include <limits>

namespace accel {

namespace {

// Integer expressions over rank-0 values of one dtype.
class Scalars {
 public:
  Scalars(Capture& capture, DType dtype) : build_(capture.build()), dtype_(dtype) {}

  ValueId number(int64_t value) { return build_.constant(Literal::of_int(dtype_, value), ValueKind::numpy_scalar); }
  ValueId apply(Op op, ValueId a, ValueId b) { return build_.pointwise(op, {a, b}, {dtype_}, ValueKind::numpy_scalar); }
  ValueId test(Op op, ValueId a, ValueId b) { return build_.pointwise(op, {a, b}, {DType::bool_}, ValueKind::numpy_scalar); }
  ValueId both(ValueId a, ValueId b) {
    return build_.pointwise(Op::logical_and, {a, b}, {DType::bool_}, ValueKind::numpy_scalar);
  }
  ValueId select(ValueId condition, ValueId yes, ValueId no, DType dtype) {
    return build_.pointwise(Op::where, {condition, yes, no}, {dtype}, ValueKind::numpy_scalar);
  }
  // Whether both arguments are negative in one of their bits' sign: (a & b) < 0.
  ValueId common_sign(ValueId a, ValueId b) { return test(Op::less, apply(Op::bitwise_and, a, b), number(0)); }

 private:
  Builder& build_;
  DType dtype_;
};

int64_t lowest(DType dtype) { return std::numeric_limits<int64_t>::min() >> (64 - 8 * item_size(dtype)); }

// A product fits exactly when dividing it gives back a factor. lowest // -1 raises the event itself.
ValueId product_overflows(Scalars& s, ValueId a, ValueId b, ValueId result, DType dtype) {
  ValueId divisor = s.select(s.test(Op::equal, a, s.number(0)), s.number(1), a, dtype);
  ValueId other = s.test(Op::not_equal, s.apply(Op::floor_divide, result, divisor), b);
  return s.both(other, s.test(Op::not_equal, a, s.number(0)));
}

ValueId overflows(Capture& capture, Op op, const std::vector<ValueId>& operands, ValueId result) {
  DType dtype = capture.graph().type(result).dtype;
  Scalars s(capture, dtype);
  bool is_signed = dtype_kind(dtype) == 'i';
  ValueId a = operands[0], b = operands.back();
  switch (op) {
    case Op::add:
      if (!is_signed) return s.test(Op::less, result, a);
      return s.common_sign(s.apply(Op::bitwise_xor, a, result), s.apply(Op::bitwise_xor, b, result));
    case Op::subtract:
      if (!is_signed) return s.test(Op::less, a, b);
      return s.common_sign(s.apply(Op::bitwise_xor, a, b), s.apply(Op::bitwise_xor, a, result));
    case Op::multiply:
      return product_overflows(s, a, b, result, dtype);
    default:  // negative, absolute
      return is_signed ? s.test(Op::equal, a, s.number(lowest(dtype))) : s.test(Op::not_equal, a, s.number(0));
  }
}

}  // namespace

bool reports_overflow(Op op, DType dtype) {
  if (dtype_kind(dtype) != 'i' && dtype_kind(dtype) != 'u') return false;
  if (op == Op::absolute) return dtype_kind(dtype) == 'i';
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::negative || op == Op::power;
}

bool can_see_overflow(Op op) { return op != Op::power; }

void report_overflow(Capture& capture, Op op, const std::vector<ValueId>& operands, ValueId result) {
  Scalars wide(capture, DType::int64);
  ValueId condition = overflows(capture, op, operands, result);
  ValueId dividend = wide.select(condition, wide.number(std::numeric_limits<int64_t>::min()), wide.number(0), DType::int64);
  wide.apply(Op::floor_divide, dividend, wide.number(-1));
}

}  // namespace accel
