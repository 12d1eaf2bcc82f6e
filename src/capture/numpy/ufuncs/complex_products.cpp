#include "capture/numpy/ufuncs/complex_products.h"

#include <algorithm>
#include <functional>

#include "capture/numpy/arrays/advanced_index.h"
#include "capture/numpy/ufuncs/overlap.h"
#include "ir/analysis/memory_strides.h"
#include "ir/analysis/reduction_plan.h"

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

// Whether an operand starts at the same memory as the out.
bool begins_in_place(Capture& capture, const ProductCall& call) {
  if (!is_in_place(call)) return false;
  const Ref& out = call.outs[0].ref;
  return std::any_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
    return operand.is_array() && operand.ref->array.storage == out->array.storage &&
           capture.facts().decide_equal(layout_of(operand.ref).offset, layout_of(out).offset);
  });
}

// Whether NumPy makes an iterator for the call. Its loop gets no strides for a single element, and then no product is fused.
// There is no iterator if all arrays with axes have equal ranks and nothing is cast; operands with at most one axis are cast
// before.
bool is_iterated(const ProductCall& call) {
  if (call.masked) return true;
  std::vector<size_t> ranks;
  auto add = [&](const Operand& operand) {
    if (operand.is_array() && !operand.shape.empty()) ranks.push_back(operand.shape.size());
  };
  std::for_each(call.operands.begin(), call.operands.end(), add);
  std::for_each(call.outs.begin(), call.outs.end(), add);
  bool aligned = std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) != ranks.end();
  auto is_cast = [&](const Operand& operand) { return operand.is_array() && operand.type.dtype != call.dtype; };
  return aligned || std::any_of(call.outs.begin(), call.outs.end(), is_cast) ||
         std::any_of(call.operands.begin(), call.operands.end(),
                     [&](const Operand& operand) { return operand.shape.size() > 1 && is_cast(operand); });
}

// Exits where a mask selects exactly one element. Their number is known at run time only.
Status require_not_one(Capture& capture, const Predicate& predicate) {
  Builder& build = capture.build();
  ValueId count = count_true(capture, predicate.mask);
  ValueId one = build.constant(Literal::of_int(DType::int64, 1), ValueKind::numpy_scalar);
  ValueId good = build.pointwise(Op::not_equal, {count, one}, {DType::bool_}, ValueKind::numpy_scalar);
  return capture.require(good, Reason::unsupported_layout, "a complex product of one element in place");
}

bool is_forward(Capture& capture, const Operand& operand) {
  if (!operand.is_array()) return true;
  const std::vector<Dim>& strides = layout_of(operand.ref).strides;
  return std::all_of(strides.begin(), strides.end(),
                     [&](Dim stride) { return capture.facts().decide(stride, Comparison::ge, capture.dims().constant(0)); });
}

// Whether NumPy's loop fuses products of a single element. It does not in an iterator's loop or in place; for one-dimensional
// arrays it depends on the sign of the strides.
bool is_single_fused(Capture& capture, const ProductCall& call, bool forward) {
  if (is_iterated(call) || begins_in_place(capture, call)) return false;
  if (call.shape.size() > 1) return true;
  bool out_forward =
      std::all_of(call.outs.begin(), call.outs.end(), [&](const Operand& out) { return is_forward(capture, out); });
  return out_forward && (forward || call.dtype != DType::complex64);
}

// NumPy's loop of square is fused where elements of its operand or its out are adjacent.
Result<Op> square_op(Capture& capture, const ProductCall& call) {
  const Operand &operand = call.operands[0], &out = call.outs[0];
  // Operands that are cast go through buffers, whose elements are adjacent.
  if (!operand.is_array() || operand.type.dtype != call.dtype || out.type.dtype != call.dtype) return Op::square;
  if (out.shape.size() > 1 || operand.shape.size() > 1) {
    if (is_c_contiguous(capture, out.ref) && is_c_contiguous(capture, operand.ref)) return Op::square;
    return fail(Reason::unsupported_layout, "a complex square into an array with gaps");
  }
  const Dim item = capture.dims().constant(item_size(call.dtype));
  auto side_by_side = [&](const Operand& array) {
    const std::vector<Dim>& strides = layout_of(array.ref).strides;
    return !strides.empty() && capture.facts().decide_equal(strides[0], item);
  };
  return side_by_side(out) || side_by_side(operand) ? Op::square : Op::scalar_multiply;
}

}  // namespace

Result<Op> product_op(Capture& capture, const ProductCall& call) {
  bool product = (call.op == Op::multiply || call.op == Op::square) && dtype_kind(call.dtype) == 'c';
  if (!product) return call.op;
  if (call.shape.empty()) {
    // NumPy treats an in-place product with a number as a reduction, whose products are not fused.
    if (call.predicate == nullptr && (is_in_place(call) || is_iterated(call))) return Op::scalar_multiply;
    // For a number NumPy calls the loop of one operand without strides.
    bool of_number = call.op == Op::square && call.outs.empty() && !call.operands[0].is_array();
    return of_number ? Op::scalar_multiply : call.op;
  }
  bool in_place = is_in_place(call);
  if (call.predicate != nullptr) {
    if (in_place) {
      ACCEL_TRY([[maybe_unused]] Unit several, require_not_one(capture, *call.predicate));
    }
    return call.op;
  }
  auto one = [&] {
    const Dim count = element_count(capture, call.shape), single = capture.dims().constant(1);
    // An extent known at run time only is assumed not to be 1.
    if (capture.facts().is_runtime(count)) return !capture.facts().expect(count, Comparison::ne, single);
    return capture.facts().decide(count, Comparison::eq, single);
  };
  bool forward = std::all_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
    return operand.type.dtype != call.dtype || is_forward(capture, operand);  // an operand that is cast is in a buffer
  });
  if (!is_single_fused(capture, call, forward) && one()) return Op::scalar_multiply;
  if (!forward && (in_place || call.shape.size() > 1) && !one())
    return fail(Reason::unsupported_layout, "a product of complex numbers that lie backwards");
  const LoopMemory memory = loop_memory(capture, call.operands, call.outs, call.dtype, is_iterated(call));
  if (memory == LoopMemory::unclear)
    return fail(Reason::unsupported_layout, "a product of complex numbers in memory that may overlap");
  if (memory == LoopMemory::overlapping) return Op::scalar_multiply;
  if (call.op == Op::square && !call.outs.empty() && memory != LoopMemory::copied) return square_op(capture, call);
  return call.op;
}

namespace {

bool is_reduced(const ReducedProduct& call, int axis) { return std::binary_search(call.axes.begin(), call.axes.end(), axis); }

// The strides and memory order of a reduction's out=, by the axes of the reduced array.
Companion companion_of(Capture& capture, const ReducedProduct& call, int rank) {
  const StridedLayout& layout = layout_of(call.out);
  bool keepdims = static_cast<int>(layout.shape.size()) == rank && !call.axes.empty();
  std::vector<int> unreduced;
  for (int axis = 0; axis < rank; ++axis)
    if (!is_reduced(call, axis)) unreduced.push_back(axis);
  Companion out = {std::vector<Dim>(static_cast<size_t>(rank), capture.dims().constant(0)), {}};
  for (size_t k = 0; k < unreduced.size(); ++k)
    out.strides[static_cast<size_t>(unreduced[k])] = layout.strides[keepdims ? static_cast<size_t>(unreduced[k]) : k];
  for (uint8_t axis : capture.graph().type(capture.memory().read(call.out)).axis_order()) {
    if (!keepdims) out.order.push_back(static_cast<uint8_t>(unreduced[axis]));
    if (keepdims && !is_reduced(call, axis)) out.order.push_back(axis);
  }
  for (int axis : call.axes) out.order.push_back(static_cast<uint8_t>(axis));
  return out;
}

// The axis of NumPy's inner loop, if it is not reduced and that affects the bits: the first axis, from fastest to slowest, with
// an extent other than 1. May add guards.
std::optional<int> unreduced_inner_axis(Capture& capture, const ReducedProduct& call, const std::vector<int>& fastest_first) {
  const std::vector<Dim> shape = capture.graph().type(call.value).shape;
  auto unreduced = [&](int axis) { return !is_reduced(call, axis); };
  for (auto axis = fastest_first.begin(); axis != fastest_first.end(); ++axis) {
    if (std::none_of(axis, fastest_first.end(), unreduced)) return std::nullopt;
    bool last = !unreduced(*axis) && std::all_of(axis + 1, fastest_first.end(), unreduced);
    if (last && !call.has_initial) return std::nullopt;  // a reduction of one element is a product with 1, fused or not
    if (!is_one(capture, shape[static_cast<size_t>(*axis)])) return unreduced(*axis) ? std::optional(*axis) : std::nullopt;
  }
  return std::nullopt;
}

// Whether an array has negative strides along the inner loop that begins with axis `inner`. Fails for loops over several axes
// that do not coalesce, because buffers, which have no negative strides, may or may not be used.
Result<bool> goes_backwards(Capture& capture, const ReducedProduct& call, const std::vector<int>& fastest_first, int inner,
                            const std::vector<Dim>& strides) {
  DimTable& dims = capture.dims();
  const std::vector<Dim> shape = capture.graph().type(call.value).shape;
  if (capture.facts().decide(strides[static_cast<size_t>(inner)], Comparison::ge, dims.constant(0))) return false;
  auto axis = static_cast<size_t>(inner);
  bool alone = !call.out && call.mask == no_value;
  for (auto next = std::find(fastest_first.begin(), fastest_first.end(), inner) + 1; next != fastest_first.end(); ++next) {
    if (is_reduced(call, *next)) break;
    Dim gap = dims.sub(strides[static_cast<size_t>(*next)], dims.mul(strides[axis], shape[axis]));
    if (!alone || !capture.facts().decide_equal(gap, dims.constant(0)))
      return fail(Reason::unsupported_layout, "products of complex numbers along axes that lie backwards");
    axis = static_cast<size_t>(*next);
  }
  return true;
}

}  // namespace

std::optional<std::vector<int>> reduction_order(Capture& capture, ValueId value, const std::vector<int>& axes, ValueId mask,
                                                const Ref& out) {
  int rank = capture.graph().type(value).rank();
  Companion beside;
  if (out) beside = companion_of(capture, {value, axes, DType::bool_, false, false, mask, out}, rank);
  return iteration_axes(capture.dims(), capture.graph(), value, mask, out ? &beside : nullptr);
}

Result<Op> reduced_product_op(Capture& capture, const ReducedProduct& call) {
  int rank = capture.graph().type(call.value).rank();
  Companion out;
  if (call.out) out = companion_of(capture, call, rank);
  auto axes = iteration_axes(capture.dims(), capture.graph(), call.value, call.mask, call.out ? &out : nullptr);
  if (!axes) return fail(Reason::unsupported_layout, "a product of complex numbers in arrays that lie in different orders");
  std::optional<int> inner = unreduced_inner_axis(capture, call, *axes);
  if (!inner) return Op::multiply;
  // NumPy's loops of complex64 do not fuse for negative strides.
  if (call.dtype != DType::complex64) return Op::fused_multiply;
  bool backwards = false;
  if (!call.buffered) {
    std::vector<Dim> strides = *memory_strides(capture.dims(), capture.graph(), call.value);
    ACCEL_TRY(backwards, goes_backwards(capture, call, *axes, *inner, strides));
  }
  if (call.out && !backwards) {
    ACCEL_TRY(backwards, goes_backwards(capture, call, *axes, *inner, out.strides));
    if (backwards && call.buffered)
      return fail(Reason::unsupported_layout, "a product of complex numbers into an array that lies backwards");
  }
  return backwards ? Op::multiply : Op::fused_multiply;
}

}  // namespace accel
