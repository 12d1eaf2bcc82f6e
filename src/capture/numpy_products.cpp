#include "capture/numpy_products.h"

#include <algorithm>
#include <functional>

#include "capture/numpy_gather.h"

namespace accel {

namespace {

bool is_in_place(const ProductCall& call) {
  if (call.outs.empty()) return false;
  const Ref& out = call.outs[0].ref;
  return std::any_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
    return operand.is_array() &&
           (operand.ref == out || (operand.ref->array.storage && operand.ref->array.storage == out->array.storage));
  });
}

// Whether NumPy's iterator has to align operands: then it gives the loop no strides for an extent of 1.
bool is_aligned(const ProductCall& call) {
  std::vector<size_t> ranks;
  for (const Operand& operand : call.operands)
    if (operand.is_array() && !operand.shape.empty()) ranks.push_back(operand.shape.size());
  return std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) != ranks.end();
}

// Of how many elements a mask selects is known at run time only.
Status require_not_one(Capture& capture, const Predicate& predicate) {
  Builder& build = capture.build();
  ValueId count = count_true(capture, predicate.mask);
  ValueId one = build.constant(Literal::of_int(DType::int64, 1), ValueKind::numpy_scalar);
  ValueId good = build.pointwise(Op::not_equal, {count, one}, {DType::bool_}, ValueKind::numpy_scalar);
  return capture.require(good, Reason::unsupported_layout, "a complex product of one element in place");
}

bool is_forward(Capture& capture, const Operand& operand) {
  if (!operand.is_array()) return true;
  const std::vector<Dim>& strides = lens_of(operand.ref).strides;
  return std::all_of(strides.begin(), strides.end(),
                     [&](Dim stride) { return capture.decide(stride, Comparison::ge, capture.dims().constant(0)); });
}

// The stride along an extent of 1 is not guarded on, but NumPy's loops of complex64 look at it.
bool hides_stride(const ProductCall& call) {
  return call.dtype == DType::complex64 && std::any_of(call.operands.begin(), call.operands.end(), [](const Operand& operand) {
           return operand.is_array() && operand.ref->array.storage && operand.ref->array.storage->source >= 0;
         });
}

}  // namespace

Result<Op> product_op(Capture& capture, const ProductCall& call) {
  bool product = (call.op == Op::multiply || call.op == Op::square) && dtype_kind(call.dtype) == 'c';
  if (!product || call.shape.empty()) return call.op;
  bool in_place = is_in_place(call);
  if (call.predicate != nullptr) {
    if (in_place) {
      ACCEL_TRY([[maybe_unused]] Unit several, require_not_one(capture, *call.predicate));
    }
    return call.op;
  }
  bool forward = std::all_of(call.operands.begin(), call.operands.end(),
                             [&](const Operand& operand) { return is_forward(capture, operand); });
  bool plain = forward && !in_place && !is_aligned(call) && !hides_stride(call);
  if (!plain && !capture.decide(element_count(capture, call.shape), Comparison::ne, capture.dims().constant(1))) {
    if (!forward || (hides_stride(call) && !in_place && !is_aligned(call)))
      return fail(Reason::unsupported_layout, "a product of one complex number that may lie backwards");
    return Op::scalar_multiply;
  }
  if (!forward && (in_place || call.shape.size() > 1))
    return fail(Reason::unsupported_layout, "a product of complex numbers that lie backwards");
  if (in_place && call.op == Op::square && !is_c_contiguous(capture, call.outs[0].ref))
    return fail(Reason::unsupported_layout, "a complex square in place with gaps");
  return call.op;
}

}  // namespace accel
