#include "capture/protocol/scalar_overflow.h"

#include <limits>

namespace accel {

namespace {

int64_t lowest(DType dtype) { return std::numeric_limits<int64_t>::min() >> (64 - 8 * item_size(dtype)); }

ValueId overflows(Capture& capture, Op op, const std::vector<ValueId>& operands, DType dtype) {
  Builder& build = capture.build();
  auto test = [&](Op kernel, std::vector<ValueId> values) {
    return build.pointwise(kernel, std::move(values), {DType::bool_}, ValueKind::numpy_scalar);
  };
  auto number = [&](int64_t value) { return build.constant(Literal::of_int(dtype, value), ValueKind::numpy_scalar); };
  switch (op) {
    case Op::add:
      return test(Op::add_overflows, operands);
    case Op::subtract:
      return test(Op::subtract_overflows, operands);
    case Op::multiply:
      return test(Op::multiply_overflows, operands);
    default:  // negative, absolute
      if (dtype_kind(dtype) == 'i') return test(Op::equal, {operands[0], number(lowest(dtype))});
      return test(Op::not_equal, {operands[0], number(0)});
  }
}

}  // namespace

bool reports_overflow(Op op, DType dtype) {
  if (dtype_kind(dtype) != 'i' && dtype_kind(dtype) != 'u') return false;
  if (op == Op::absolute) return dtype_kind(dtype) == 'i';
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::negative;
}

void report_overflow(Capture& capture, Op op, const std::vector<ValueId>& operands, DType dtype) {
  ValueId condition = overflows(capture, op, operands, dtype);
  capture.build().pointwise(Op::overflow_event, {condition}, {DType::bool_}, ValueKind::numpy_scalar);
}

}  // namespace accel
