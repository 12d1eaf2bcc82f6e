// ufunc.reduce, and reductions that return a position.

#include <algorithm>
#include <limits>
#include <numeric>

#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/ufuncs/complex_products.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "ir/analysis/reduction_plan.h"
#include "ir/view_order.h"
#include "ndarray/array.h"

namespace accel {

namespace {

struct ReduceCall {
  Op op;  // the combining one
  Operand array;
  DType accumulator;
  DType result;
  std::vector<Dim> shape;  // of the result, with the axes that keepdims adds
  std::optional<ValueId> initial;
  std::optional<ValueId> filler;  // the value that replaces masked elements; unset if masked elements are skipped
  Ref where;
};

bool combines_complex_products(const ReduceCall& call) {
  return call.op == Op::multiply && dtype_kind(call.accumulator) == 'c';
}

bool has_identity(Op op) { return op_info(op).identity[0] != '\0'; }

// Whether NumPy's order of the operands shows in the result.
bool is_ordered(const ReduceCall& call) { return !is_extreme(call.op) && is_inexact(call.accumulator); }

Status resolve_types(Capture& capture, PyObject* ufunc, const ReduceOptions& options, ReduceCall& call) {
  std::vector<OperandType> types = {{OperandType::Kind::array, call.array.type.dtype}};
  if (call.array.type.kind != OperandType::Kind::array && call.array.type.kind != OperandType::Kind::numpy_scalar) {
    return fail(Reason::unsupported_value, "a reduction of a Python number");
  }
  if (options.out) types.push_back({OperandType::Kind::array, layout_of(options.out).dtype});
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc, types, options.dtype.get(), true));
  call.accumulator = dtypes[0];
  call.result = options.out ? layout_of(options.out).dtype : dtypes[2];
  if (dtypes[0] != dtypes[1] || dtypes[0] != dtypes[2]) return fail(Reason::unsupported_dtype, "a loop of several dtypes");
  if (options.out && !can_cast(call.accumulator, call.result, ""))
    return fail(Reason::will_raise, "the result cannot be cast to out");
  return Unit{};
}

// A reduction over no elements without an identity raises, even if the result has no elements.
Status check_empty(Capture& capture, const ReduceOptions& options, const ReduceCall& call) {
  if (has_identity(call.op) || call.initial) return Unit{};
  for (int axis : options.axes)
    if (!capture.facts().decide(call.array.shape[static_cast<size_t>(axis)], Comparison::gt, capture.dims().constant(0)))
      return fail(Reason::will_raise, "zero-size array to a reduction which has no identity");
  return Unit{};
}

Status read_initial(Capture& capture, const ReduceOptions& options, ReduceCall& call) {
  if (is_no_value(options.initial)) return Unit{};
  if (is_none(options.initial)) {  // the first element, which must exist
    if (!has_identity(call.op)) return Unit{};
    return fail(Reason::unsupported_argument, "initial=None where there is an identity; plain form: the call without initial");
  }
  auto operand = as_operand(capture, options.initial);
  if (!operand || !operand->shape.empty()) return fail(Reason::unsupported_argument, "initial");
  if (operand->type.kind == OperandType::Kind::py_complex && dtype_kind(call.accumulator) != 'c' &&
      call.accumulator != DType::bool_)
    return fail(Reason::will_raise, "a complex number as initial of a real reduction");
  if (operand->type.kind == OperandType::Kind::py_float) {
    ACCEL_TRY([[maybe_unused]] Unit in_range, require_element_in_range(capture, *operand, call.accumulator));
  }
  ACCEL_TRY(call.initial, operand_value(capture, *operand, call.accumulator));
  return Unit{};
}

// where=mask: masked elements are replaced by the identity, which is exact except for floating-point sums and products, where
// they are skipped.
Status read_where(Capture& capture, const ReduceOptions& options, ReduceCall& call) {
  if (!options.where || is_no_value(options.where) || is_object(options.where, Py_True)) return Unit{};
  ACCEL_TRY(Operand mask, read_operand(capture, options.where));
  if (!mask.is_array() || mask.type.dtype != DType::bool_)
    return fail(Reason::unsupported_argument, "where that is no bool array; plain form: where=condition.astype(bool)");
  ACCEL_TRY(std::vector<Dim> shape, broadcast_shapes(capture, {call.array.shape, mask.shape}));
  if (shape.size() != call.array.shape.size()) return fail(Reason::unsupported_argument, "where with more axes than the array");
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!capture.facts().decide_equal(shape[k], call.array.shape[k]))
      return fail(Reason::unsupported_argument, "where larger than the array");
  }
  call.where = mask.ref;
  if (is_ordered(call)) return Unit{};
  if (has_identity(call.op)) {
    call.filler = capture.build().constant(*identity_of(call.op, call.accumulator), ValueKind::numpy_scalar);
  } else if (call.initial) {
    call.filler = call.initial;  // it may be combined repeatedly, because the ops are extremes
  } else {
    return fail(Reason::will_raise, "where needs initial here");
  }
  return Unit{};
}

// Decides extents for which being 1 changes the order of the additions.
void specialise(Capture& capture, const ReduceOptions& options, ReduceCall& call) {
  const Type type = capture.graph().type(capture.memory().read(call.array.ref));
  for (int axis : axes_specialised_on_one(capture.dims(), type, options.axes, call.op, call.accumulator)) {
    Dim& extent = call.array.shape[static_cast<size_t>(axis)];
    if (is_one(capture, extent)) extent = capture.dims().constant(1);
  }
}

// The array with extents of 1 as constants.
ValueId specialised_value(Capture& capture, const ReduceCall& call) {
  ValueId value = capture.memory().read(call.array.ref);
  size_t rank = call.array.shape.size();
  if (capture.graph().type(value).shape == call.array.shape) return value;
  return capture.build().slice(value, std::vector<Dim>(rank, capture.dims().constant(0)),
                               std::vector<Dim>(rank, capture.dims().constant(1)), call.array.shape);
}

// The mask broadcast to the array's shape.
ValueId condition_of(Capture& capture, const ReduceCall& call) {
  return broadcast_value(capture, capture.memory().read(call.where), call.array.shape);
}

ValueId masked(Capture& capture, const ReduceCall& call, ValueId value) {
  if (!call.filler) return value;
  Operand mask = *as_operand(capture, call.where);
  ValueId condition = condition_of(capture, call);
  std::vector<uint8_t> order = result_order(capture, {call.array, mask}, call.array.shape);
  return capture.build().pointwise(Op::where, {condition, value, *call.filler}, {call.accumulator}, ValueKind::array, order);
}

// The op that combines with NumPy's bits.
Result<Op> combining_op(Capture& capture, const ReduceOptions& options, const ReduceCall& call, ValueId value, bool buffered,
                        ValueId mask) {
  if (options.out && is_ordered(call) && !reduction_order(capture, value, options.axes, mask, options.out))
    return fail(Reason::unsupported_layout, "a floating-point sum or product into an array that lies in another order");
  if (!combines_complex_products(call)) return call.op;
  if (options.out && call.array.is_array() && options.out->array.storage == call.array.ref->array.storage)
    return fail(Reason::unsupported_layout, "a product of complex numbers into memory that it reads");
  bool has_initial = call.initial.has_value();
  return reduced_product_op(capture, {value, options.axes, call.accumulator, buffered, has_initial, mask, options.out});
}

// The result of a reduction over at least one axis.
Result<ValueId> reduce_value(Capture& capture, const ReduceOptions& options, const ReduceCall& call) {
  Builder& build = capture.build();
  ValueId value = specialised_value(capture, call);
  bool cast = call.array.type.dtype != call.accumulator;
  bool buffered = cast && is_ordered(call);
  if (cast && !buffered) value = capture.values().astype(value, call.accumulator);
  value = masked(capture, call, value);
  ValueId initial = call.initial.value_or(no_value), mask = no_value;
  if (call.where && is_ordered(call)) {
    mask = condition_of(capture, call);
    if (!masked_plan(capture.dims(), capture.graph(), value, mask, options.axes, call.op, call.accumulator, buffered).known)
      return fail(Reason::unsupported_argument, "a floating-point sum or product under a mask of another layout");
  }
  ACCEL_TRY(Op op, combining_op(capture, options, call, value, buffered, mask));
  return build.reduce(op, value, options.axes, call.accumulator, initial, buffered, ValueKind::array, mask);
}

// A reduction over no axis: one step from `initial`, or a copy in the accumulator's dtype. NumPy still starts sums from 0,
// which changes -0.0 to 0.0, and products of complex numbers from 1.
Result<ValueId> copy_value(Capture& capture, const ReduceOptions& options, const ReduceCall& call) {
  if (call.where || (call.initial && !has_identity(call.op)))
    return fail(Reason::unsupported_argument, "initial or where without an axis to reduce");
  bool is_sum = call.op == Op::add && is_inexact(call.accumulator);
  bool starts = is_sum || combines_complex_products(call) || call.initial;
  if (!call.array.is_array() && !starts) return operand_value(capture, call.array, call.accumulator);
  Builder& build = capture.build();
  ValueKind kind = call.array.is_array() ? ValueKind::array : ValueKind::numpy_scalar;
  std::vector<uint8_t> order = result_order(capture, {call.array}, call.array.shape);
  ACCEL_TRY(ValueId value, operand_value(capture, call.array, call.accumulator));
  Op same = call.accumulator == DType::bool_ ? Op::copy : Op::positive;  // there is no positive of bools
  if (!starts) return build.pointwise(same, {value}, {call.accumulator}, kind, order);
  ValueId start =
      call.initial ? *call.initial : build.constant(*identity_of(call.op, call.accumulator), ValueKind::numpy_scalar);
  ACCEL_TRY(Op op, combining_op(capture, options, call, value, call.array.type.dtype != call.accumulator, no_value));
  if (combines_complex_products(call)) op = op == Op::fused_multiply ? Op::multiply : Op::scalar_multiply;
  return build.pointwise(op, {broadcast_value(capture, start, call.array.shape), value}, {call.accumulator}, kind, order);
}

// --- under a mask -------------------------------------------------------------------------------------------------------

// A value that does not affect an extreme or a reduction of integers; nullopt for dtypes without one.
std::optional<Literal> neutral_of(Op op, DType dtype) {
  char kind = dtype_kind(dtype);
  bool integral = kind == 'i' || kind == 'u' || kind == 'b';
  if (has_identity(op)) return integral ? identity_of(op, dtype) : std::nullopt;
  if (kind == 'c') return std::nullopt;
  bool largest = op == Op::maximum || op == Op::fmax;
  if (op == Op::fmax || op == Op::fmin)
    if (kind == 'f') return Literal::of_double(dtype, std::numeric_limits<double>::quiet_NaN());
  double infinity = std::numeric_limits<double>::infinity();
  if (kind == 'f') return Literal::of_double(dtype, largest ? -infinity : infinity);
  int bits = static_cast<int>(item_size(dtype)) * 8;
  if (kind == 'b') return Literal::of_int(dtype, largest ? 0 : 1);
  if (kind == 'u') return Literal::of_int(dtype, largest ? 0 : -1);
  int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return Literal::of_int(dtype, largest ? lowest : -(lowest + 1));
}

// The reduced axes in the full shape; empty if the axis of the selected elements is not reduced.
std::vector<int> full_axes(const Predicate& predicate, const std::vector<int>& axes) {
  std::vector<int> out;
  if (!std::binary_search(axes.begin(), axes.end(), predicate.first)) return out;
  for (int axis : axes) {
    if (axis < predicate.first) out.push_back(axis);
    if (axis > predicate.first) out.push_back(axis + predicate.rank - 1);
    for (int k = 0; axis == predicate.first && k < predicate.rank; ++k) out.push_back(axis + k);
  }
  return out;
}

// Extremes of no elements raise.
Status require_elements(Capture& capture, const Predicate& predicate, const ReduceCall& call, const std::vector<int>& axes) {
  if (has_identity(call.op)) return Unit{};
  for (Dim extent : call.array.shape) {
    if (!capture.facts().decide(extent, Comparison::gt, capture.dims().constant(0)))
      return fail(Reason::unsupported_argument, "an extreme of no elements under a mask");
  }
  std::vector<int> all(static_cast<size_t>(predicate.rank));
  std::iota(all.begin(), all.end(), 0);
  ValueId any =
      capture.build().reduce(Op::logical_or, predicate.mask, all, DType::bool_, no_value, false, ValueKind::numpy_scalar);
  return axes.empty() ? Status(Unit{}) : capture.require(any, Reason::will_raise, "an extreme of no elements");
}

// Reduces a masked selection without gathering it; nullopt if the order of its elements affects the result.
Result<std::optional<Ref>> reduce_lanes(Capture& capture, PyObject* ufunc, Op op, const Ref& array,
                                        const ReduceOptions& options) {
  bool plain = !options.out && is_no_value(options.initial) &&
               (!options.where || is_no_value(options.where) || is_object(options.where, Py_True));
  std::vector<int> axes = full_axes(array->predicate, options.axes);
  if (!plain || axes.empty()) return std::optional<Ref>();
  ACCEL_TRY(Operand operand, read_lanes(capture, array));
  ReduceCall call{op, std::move(operand), DType::bool_, DType::bool_, {}, {}, {}, nullptr};
  ACCEL_TRY([[maybe_unused]] Unit types, resolve_types(capture, ufunc, options, call));
  std::optional<Literal> neutral = neutral_of(op, call.accumulator);
  if (!neutral) return std::optional<Ref>();
  ACCEL_TRY([[maybe_unused]] Unit some, require_elements(capture, array->predicate, call, axes));
  Builder& build = capture.build();
  ValueId value = capture.values().astype(capture.memory().read(array), call.accumulator);
  ValueId mask = spread_mask(capture, array->predicate, call.array.shape);
  ValueId filler = build.constant(*neutral, ValueKind::numpy_scalar);
  std::vector<uint8_t> order = capture.graph().type(value).order;
  value = build.pointwise(Op::where, {mask, value, filler}, {call.accumulator}, ValueKind::array, order);
  value = build.reduce(op, value, axes, call.accumulator);
  if (options.keepdims) value = build.expand_dims(value, options.axes);
  return std::optional(wrap_result(capture, value, false));
}

// Whether it is fresh memory without elements, to which NumPy gives no strides, so that it does not affect the order.
bool has_no_strides(Capture& capture, const Operand& array) {
  return array.ref->array.storage->source < 0 && has_no_elements(capture, array.shape);
}

// The axis order of NumPy's iterator over the reduced array. Axes of extent 1 do not affect it.
std::vector<uint8_t> order_of_iteration(Capture& capture, const ReduceCall& call) {
  if (has_no_strides(capture, call.array)) return {};
  std::vector<Operand> operands = {call.array};
  if (call.where) operands.push_back(*as_operand(capture, call.where));
  return result_order(capture, operands, call.array.shape);
}

// A fresh result has the memory order of the iterator.
ValueId in_iterated_order(Capture& capture, const ReduceOptions& options, const ReduceCall& call, ValueId value) {
  const Type type = capture.graph().type(value), array = capture.graph().type(capture.memory().read(call.array.ref));
  if (options.out || type.rank() < 2 || array.is_c_order()) return value;
  const Type iterated{ValueKind::array, array.dtype, array.shape, order_of_iteration(capture, call)};
  std::vector<uint8_t> order = order_without(iterated, options.axes);
  if (order == type.axis_order()) return value;
  if (std::is_sorted(order.begin(), order.end())) order.clear();
  return capture.build().pointwise(Op::copy, {value}, {type.dtype}, ValueKind::array, std::move(order));
}

// Inserts axes of extent 1 for the reduced ones. A fresh result has the memory order of the reduced array.
ValueId with_kept_axes(Capture& capture, const ReduceOptions& options, const ReduceCall& call, ValueId value) {
  Builder& build = capture.build();
  value = build.expand_dims(value, options.axes);
  if (options.out || capture.graph().type(capture.memory().read(call.array.ref)).is_c_order()) return value;
  return build.pointwise(Op::copy, {value}, {capture.graph().type(value).dtype}, ValueKind::array,
                         order_of_iteration(capture, call));
}

bool same_shape(Capture& capture, const std::vector<Dim>& shape, const std::vector<Dim>& other) {
  if (shape.size() != other.size()) return false;
  for (size_t k = 0; k < shape.size(); ++k)
    if (!capture.facts().decide_equal(shape[k], other[k])) return false;
  return true;
}

}  // namespace

Result<Ref> reduce_array(Capture& capture, PyObject* ufunc, const Ref& array, const ReduceOptions& options) {
  std::optional<Op> op = op_of_ufunc(ufunc);
  if (!op || !has_property(*op, OpProperty::reduces)) return fail(Reason::unsupported_call, "a reduction with this ufunc");
  EventCall events(capture, "reduce");
  if (is_masked_selection(array)) {
    ACCEL_TRY(auto reduced, reduce_lanes(capture, ufunc, *op, array, options));
    if (reduced) return *reduced;
  }
  ACCEL_TRY(Operand operand, read_operand(capture, array));
  ReduceCall call{*op, std::move(operand), DType::bool_, DType::bool_, {}, {}, {}, nullptr};
  if (options.out) {
    if (!as_operand(capture, options.out) || !as_operand(capture, options.out)->is_array()) {
      return fail(Reason::will_raise, "out is no array");
    }
    ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(options.out));
    size_t rank = call.array.shape.size() - (options.keepdims ? 0 : options.axes.size());
    if (layout_of(options.out).shape.size() != rank) return fail(Reason::will_raise, "out has another number of axes");
  }
  ACCEL_TRY([[maybe_unused]] Unit types, resolve_types(capture, ufunc, options, call));
  ACCEL_TRY([[maybe_unused]] Unit initial, read_initial(capture, options, call));
  ACCEL_TRY([[maybe_unused]] Unit where, read_where(capture, options, call));
  ACCEL_TRY([[maybe_unused]] Unit empty, check_empty(capture, options, call));
  ValueId value = no_value;
  if (options.axes.empty()) {
    bool is_cast = call.accumulator == DType::bool_ && call.array.type.dtype != DType::bool_ && call.array.shape.empty();
    if (is_cast && !call.initial && !call.where) {
      ACCEL_TRY(value, operand_value(capture, call.array, DType::bool_));
    } else {
      ACCEL_TRY(value, copy_value(capture, options, call));
    }
  } else {
    specialise(capture, options, call);
    ACCEL_TRY(value, reduce_value(capture, options, call));
    value = options.keepdims ? with_kept_axes(capture, options, call, value) : in_iterated_order(capture, options, call, value);
  }
  if (!options.out) return wrap_result(capture, value, false);
  std::vector<Dim> shape = capture.graph().type(value).shape;
  if (!same_shape(capture, shape, layout_of(options.out).shape)) return fail(Reason::will_raise, "out has another shape");
  return store_result(capture, options.out, capture.values().astype(value, call.result));
}

// ufunc.reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=<no value>, where=True)
Result<Ref> numpy_ufunc_reduce(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(UfuncMethod method, split_ufunc_method(callable, arguments));
  ACCEL_TRY(auto given,
            bind_arguments(method.arguments, {{"array", "axis", "dtype", "out", "keepdims", "initial", "where"}, 1, 99, 1}));
  ACCEL_TRY(Operand array, read_lanes(capture, given[0]));
  int rank = visible_rank(array);
  ReduceOptions options;
  options.axes.resize(static_cast<size_t>(rank));
  std::iota(options.axes.begin(), options.axes.end(), 0);
  if (!given[1]) {
    if (rank > 0) options.axes = {0};
  } else {
    // A 0-d array may be reduced over axis 0 or -1, unless it is given in a tuple.
    ACCEL_TRY(auto axes, read_axes(capture, given[1], given[1]->kind == AbstractKind::tuple ? rank : std::max(rank, 1)));
    if (axes && rank > 0) options.axes = *axes;
  }
  ACCEL_TRY(options.dtype, read_descr(capture, given[2]));
  if (!is_none(given[3])) {
    if (given[3]->kind == AbstractKind::tuple || is_object(given[3], Py_Ellipsis))
      return fail(Reason::unsupported_argument, "out as a tuple or Ellipsis; plain form: out=array");
    options.out = given[3];
  }
  if (is_object(given[4], Py_None)) return fail(Reason::will_raise, "keepdims=None");
  ACCEL_TRY(options.keepdims, read_flag(capture, given[4], false));
  options.initial = given[5];
  options.where = given[6];
  return reduce_array(capture, method.ufunc, array.ref, options);
}

namespace {

// Checks the out of argmax, to which positions are written while elements are still compared.
Status check_positions(Capture& capture, const Ref& array, const Ref& out, const std::vector<Dim>& shape) {
  auto operand = as_operand(capture, out);
  if (!operand || !operand->is_array()) return fail(Reason::will_raise, "out is no array");
  if (!can_cast(operand->type.dtype, DType::int64, "safe")) return fail(Reason::will_raise, "out is of no such dtype");
  if (out->array.storage == array->array.storage)
    return fail(Reason::unsupported_argument, "positions that overwrite what is compared");
  if (!same_shape(capture, shape, operand->shape)) return fail(Reason::will_raise, "out has another shape");
  return capture.memory().check_storable(out);
}

struct ArgReduceCall {
  Operand array;
  std::optional<int> axis;  // nullopt: over all elements
  bool keepdims;
  Ref out;  // null when there is none

  // The axes that are removed, or have extent 1 with keepdims.
  std::vector<int> axes() const {
    if (axis) return {*axis};
    std::vector<int> all(array.shape.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

// ndarray.argmax(axis=None, out=None, *, keepdims=False)
Result<ArgReduceCall> read_arg_reduce(Capture& capture, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "axis", "out", "keepdims"}, 1, 3, 1}));
  ACCEL_TRY(Operand array, read_operand(capture, given[0]));
  ArgReduceCall call = {std::move(array), std::nullopt, false, is_none(given[2]) ? nullptr : given[2]};
  if (!call.array.is_array() && (call.array.type.kind != OperandType::Kind::numpy_scalar || call.out))
    return fail(Reason::unsupported_value, "the position of an extreme in such a scalar");
  ACCEL_TRY(call.keepdims, read_flag(capture, given[3], false));
  int rank = static_cast<int>(call.array.shape.size());
  if (!is_none(given[1])) {
    ACCEL_TRY(int axis, read_axis(capture, given[1], std::max(rank, 1)));
    if (rank > 0) call.axis = axis;
  }
  return call;
}

Result<Ref> arg_reduce(Capture& capture, Op op, const CallArguments& arguments) {
  ACCEL_TRY(ArgReduceCall call, read_arg_reduce(capture, arguments));
  const std::vector<Dim>& shape = call.array.shape;
  Dim extent = call.axis ? shape[static_cast<size_t>(*call.axis)] : element_count(capture, shape);
  if (!capture.facts().decide(extent, Comparison::gt, capture.dims().constant(0))) {
    return fail(Reason::will_raise, "attempt to get the position of an extreme of an empty sequence");
  }
  Builder& build = capture.build();
  if (!call.array.is_array())
    return wrap_result(capture, build.constant(Literal::of_int(DType::int64, 0), ValueKind::numpy_scalar), false);
  ValueId value = capture.memory().read(call.array.ref);
  if (!call.axis && shape.size() != 1) value = build.reshape(value, {extent});
  value = build.argreduce(op, value, call.axis.value_or(0));
  if (call.keepdims && !shape.empty()) value = build.expand_dims(value, call.axes());
  if (!call.out) return wrap_result(capture, value, false);
  std::vector<Dim> positions = capture.graph().type(value).shape;
  ACCEL_TRY([[maybe_unused]] Unit storable, check_positions(capture, call.array.ref, call.out, positions));
  return store_result(capture, call.out, capture.values().astype(value, layout_of(call.out).dtype));
}

}  // namespace

Result<Ref> numpy_argmax(Capture& capture, PyObject*, const CallArguments& arguments) {
  return arg_reduce(capture, Op::argmax, arguments);
}

Result<Ref> numpy_argmin(Capture& capture, PyObject*, const CallArguments& arguments) {
  return arg_reduce(capture, Op::argmin, arguments);
}

}  // namespace accel
