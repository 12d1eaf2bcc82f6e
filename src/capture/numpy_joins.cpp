// concatenate, where and arange.

#include <algorithm>
#include <cmath>

#include "capture/grown_lists.h"
#include "capture/numpy_arguments.h"
#include "capture/numpy_creation.h"
#include "capture/numpy_gather.h"
#include "capture/numpy_primitives.h"
#include "capture/numpy_ufunc.h"
#include "capture/numpy_views.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

// Parts of a concatenation, cast and of one rank.
struct Parts {
  std::vector<Operand> operands;
  std::vector<ValueId> values;
  std::vector<Dim> shape;  // extents that all share; the joined axis' own is that of the first
};

Result<std::vector<Ref>> items_of(const Ref& sequence) {
  if (sequence->kind != AbstractKind::tuple && sequence->kind != AbstractKind::list) {
    return fail(Reason::unsupported_argument, "a sequence of arrays that is no tuple or list");
  }
  if (sequence->items.empty()) return fail(Reason::will_raise, "need at least one array to concatenate");
  return sequence->items;
}

Status check_extents(Capture& capture, const Parts& parts, int axis) {
  for (const Operand& operand : parts.operands) {
    if (operand.shape.size() != parts.shape.size())
      return fail(Reason::will_raise, "arrays of different ranks are concatenated");
    for (size_t k = 0; k < parts.shape.size(); ++k) {
      if (static_cast<int>(k) == axis) continue;
      if (!capture.expect_equal(operand.shape[k], parts.shape[k])) return fail(Reason::will_raise, "the extents do not match");
    }
  }
  return Unit{};
}

}  // namespace

// concatenate(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')
Result<Ref> numpy_concatenate(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"arrays", "axis", "out", "dtype", "casting"}, 1, 3, 1}));
  if (!is_none(given[2])) return fail(Reason::unsupported_argument, "out");
  if (is_grown(given[0]) && !given[1] && is_none(given[3])) return concatenated_items(capture, given[0]);
  ACCEL_TRY(std::vector<Ref> items, items_of(given[0]));
  Parts parts;
  std::vector<OperandType> types;
  for (const Ref& item : items) {
    ACCEL_TRY(Operand operand, read_operand(capture, item));
    if (!operand.is_array()) return fail(Reason::will_raise, "zero-dimensional arrays cannot be concatenated");
    types.push_back(operand.type);
    parts.operands.push_back(std::move(operand));
  }
  ACCEL_TRY(auto dtype, read_dtype(capture, given[3]));
  if (!dtype) {
    ACCEL_TRY(dtype, numpy_result_type(types));
  }
  ACCEL_TRY(std::string casting, read_text(capture, given[4]));
  for (const OperandType& type : types) {
    if (!can_cast(type.dtype, *dtype, casting)) return fail(Reason::will_raise, "the cast is not allowed");
    if (dtype_kind(type.dtype) == 'c' && dtype_kind(*dtype) != 'c')
      return fail(Reason::floating_point_event, "a cast that warns");
  }
  parts.shape = parts.operands[0].shape;
  bool flat = given[1] && is_none(given[1]);
  int axis = 0, rank = static_cast<int>(parts.shape.size());
  if (!flat && rank == 0) return fail(Reason::will_raise, "zero-dimensional arrays cannot be concatenated");
  if (!flat && given[1]) {
    ACCEL_TRY(axis, read_axis(capture, given[1], rank));
  }
  if (!flat) {
    ACCEL_TRY([[maybe_unused]] Unit extents, check_extents(capture, parts, axis));
  }
  for (const Operand& operand : parts.operands) {
    ValueId value = capture.astype(capture.read(operand.ref), *dtype);
    std::vector<Dim> shape = parts.shape;
    if (flat) {
      shape = {element_count(capture, operand.shape)};
    } else {
      shape[static_cast<size_t>(axis)] = operand.shape[static_cast<size_t>(axis)];
    }
    parts.values.push_back(with_shape(capture, value, shape));
  }
  std::vector<uint8_t> order;
  if (!flat) order = joined_order(capture, parts.operands);
  if (parts.values.size() == 1) return copied(capture, parts.values[0], order);
  return capture.fresh_array(capture.build().concatenate(parts.values, axis, order));
}

// where(condition, x, y)
Result<Ref> numpy_where(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"condition", "x", "y"}, 1, 99, 3}));
  if (!given[1] && !given[2]) return nonzero_tuple(capture, given[0]);
  if (!given[1] || !given[2]) return fail(Reason::will_raise, "either both or neither of x and y should be given");
  std::vector<Operand> operands;
  for (const Ref& ref : given) {
    ACCEL_TRY(Operand operand, read_operand(capture, ref));
    operands.push_back(std::move(operand));
  }
  const OperandType choices[] = {operands[1].type, operands[2].type};
  ACCEL_TRY(DType dtype, numpy_result_type(choices));
  ACCEL_TRY(std::vector<Dim> shape, broadcast_shapes(capture, {operands[0].shape, operands[1].shape, operands[2].shape}));
  std::vector<uint8_t> order = result_order(capture, operands, shape);
  std::vector<ValueId> values(3, no_value);
  for (bool arrays : {false, true}) {
    for (size_t k = 0; k < 3; ++k) {
      if (operands[k].is_array() != arrays) continue;
      ACCEL_TRY(ValueId value, operand_value(capture, operands[k], k == 0 ? DType::bool_ : dtype));
      values[k] = broadcast_value(capture, value, shape);
    }
  }
  return capture.fresh_array(capture.build().pointwise(Op::where, values, {dtype}, ValueKind::array, order));
}

namespace {

struct Progression {
  Operand start, step;
  Dim count;
};

// The number of elements: ceil((stop - start) / step), by Python's integers or floats.
Result<Dim> integer_count(Capture& capture, Dim start, Dim stop, int64_t step) {
  DimTable& dims = capture.dims();
  if (step == 0) return fail(Reason::will_raise, "arange with a step of zero");
  Dim distance = step > 0 ? dims.sub(stop, start) : dims.sub(start, stop);
  if (capture.hint(distance) == 0 && !dims.as_constant(start)) capture.decide(distance, Comparison::ge, dims.constant(0));
  // An empty range needs no guard of its own when the distance is an extent.
  if (!capture.decide(distance, Comparison::ge, dims.constant(0))) return dims.constant(0);
  int64_t size = std::llabs(step);
  return size == 1 ? distance : dims.floordiv(dims.add(distance, dims.constant(size - 1)), dims.constant(size));
}

Result<double> constant_double(Capture& capture, const Ref& ref) {
  ACCEL_TRY(PyRef object, capture.require_constant(ref));
  uint64_t bits[2];
  if (!read_scalar(object.get(), DType::float64, bits)) return fail(Reason::unsupported_argument, "an argument of arange");
  return Literal{DType::float64, {bits[0], bits[1]}}.as_complex().real();
}

bool is_integral(const Operand& operand) { return !operand.is_array() && is_integer_dtype(operand.type.dtype); }

// An int that is the same number as an argument: an int itself, or a constant float without a fraction. Null: none.
Ref whole_number(Capture& capture, const Operand& operand) {
  if (is_integral(operand)) return operand.ref;
  uint64_t bits[2];
  bool constant = operand.ref->kind == AbstractKind::constant && operand.type.dtype == DType::float64;
  if (!constant || !read_scalar(operand.ref->object.get(), DType::float64, bits)) return nullptr;
  double value = Literal{DType::float64, {bits[0], bits[1]}}.as_complex().real();
  bool whole = std::trunc(value) == value && std::fabs(value) < 1 << 30 && (value != 0 || !std::signbit(value));
  return whole ? capture.python_int(static_cast<int64_t>(value)) : nullptr;
}

// Whether numbers up to this one are floats without rounding.
bool is_exact_as_float(Capture& capture, const Ref& number) {
  Result<Dim> value = read_dim(capture, number);
  return value.ok() && capture.assume_fits(capture.dims().mul(*value, capture.dims().constant(1 << 10)));
}

// NumPy subtracts the bounds as the objects that they are: narrow integers wrap around, and then the range is another one.
Status check_distance(Capture& capture, const Operand& start, const Operand& stop, Dim first, Dim last) {
  bool wide = true;
  for (const Operand* bound : {&start, &stop})
    wide = wide && (bound->type.kind != Kind::numpy_scalar || bound->type.dtype == DType::int64);
  if (wide) return Unit{};
  const OperandType types[] = {stop.type, start.type};
  ACCEL_TRY(DType dtype, numpy_result_type(types));
  for (Dim d : {first, last, capture.dims().sub(last, first)}) {
    ACCEL_TRY([[maybe_unused]] Unit fits, check_dim(capture, d, dtype));
  }
  return Unit{};
}

// Elements are start + k * delta in the dtype, where delta = (start + step) - start: NumPy fills from its first two elements.
Result<Ref> float_range(Capture& capture, const std::vector<Ref>& bounds, DType dtype) {
  ACCEL_TRY(double start, constant_double(capture, bounds[0]));
  ACCEL_TRY(double stop, constant_double(capture, bounds[1]));
  ACCEL_TRY(double step, constant_double(capture, bounds[2]));
  if (start == 0 && std::signbit(start)) return fail(Reason::unsupported_argument, "arange from -0.0");  // its first element
  double count = std::ceil((stop - start) / step);
  if (!std::isfinite(count) || std::fabs(count) > 9e15) return fail(Reason::will_raise, "arange of such a length");
  Literal first = Literal::of_double(dtype, start), second = Literal::of_double(dtype, start + step);
  double delta = second.as_complex().real() - first.as_complex().real();
  Literal difference = Literal::of_double(dtype, delta);
  bool exact = Literal::of_double(dtype, first.as_complex().real() + difference.as_complex().real()) == second;
  if (!exact || dtype == DType::float16) return fail(Reason::unsupported_argument, "arange with such a start and step");
  Builder& build = capture.build();
  Dim length = capture.dims().constant(count > 0 ? static_cast<int64_t>(count) : 0);
  ValueId from = build.constant(first, ValueKind::numpy_scalar), by = build.constant(difference, ValueKind::numpy_scalar);
  return capture.fresh_array(build.arange(from, by, length));
}

}  // namespace

// arange([start,] stop[, step], dtype=None)
Result<Ref> numpy_arange(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"start", "stop", "step", "dtype", "device", "like"}, 0, 4}));
  if (!is_none(given[5])) return fail(Reason::unsupported_argument, "like");
  if (is_none(given[1])) {
    given[1] = given[0];
    given[0] = nullptr;
  }
  if (is_none(given[1])) return fail(Reason::will_raise, "arange() requires stop to be specified.");
  std::vector<Ref> bounds = {is_none(given[0]) ? capture.python_int(0) : given[0], given[1],
                             is_none(given[2]) ? capture.python_int(1) : given[2]};
  std::vector<Operand> operands;
  std::vector<OperandType> types;
  bool integral = true;
  for (const Ref& ref : bounds) {
    ACCEL_TRY(Operand operand, read_operand(capture, ref));
    if (operand.is_array()) return fail(Reason::unsupported_argument, "an array as bound of arange");
    integral = integral && is_integral(operand);
    types.push_back({Kind::array, operand.type.dtype});
    operands.push_back(std::move(operand));
  }
  ACCEL_TRY(auto dtype, read_dtype(capture, given[3]));
  if (!dtype) {
    ACCEL_TRY(dtype, numpy_result_type(types));
  }
  char kind = dtype_kind(*dtype);
  if (kind == 'b' || kind == 'c' || *dtype == DType::float16) return fail(Reason::unsupported_dtype, "arange of this dtype");
  if (!integral && *dtype == DType::float64) {
    std::vector<Ref> whole;
    for (const Operand& operand : operands) whole.push_back(whole_number(capture, operand));
    bool exact = std::all_of(whole.begin(), whole.end(), [&](const Ref& n) { return n && is_exact_as_float(capture, n); });
    if (exact) bounds = std::move(whole), integral = true;
  }
  if (!integral) {
    if (kind != 'f') return fail(Reason::unsupported_argument, "an integer arange with floating bounds");
    return float_range(capture, bounds, *dtype);
  }
  ACCEL_TRY(Dim start, read_dim(capture, bounds[0]));
  ACCEL_TRY(Dim stop, read_dim(capture, bounds[1]));
  ACCEL_TRY(int64_t step, capture.require_int(bounds[2]));
  if (integral && !is_none(given[0])) {
    ACCEL_TRY([[maybe_unused]] Unit fits, check_distance(capture, operands[0], operands[1], start, stop));
  }
  ACCEL_TRY(Dim count, integer_count(capture, start, stop, step));
  Operand first = *as_operand(capture, capture.dim_scalar(start)), delta = *as_operand(capture, capture.python_int(step));
  ACCEL_TRY(ValueId from, operand_value(capture, first, *dtype));
  ACCEL_TRY(ValueId by, operand_value(capture, delta, *dtype));
  return capture.fresh_array(capture.build().arange(from, by, count));
}

}  // namespace accel
