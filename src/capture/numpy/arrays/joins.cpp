// concatenate and where.

#include "capture/numpy/arrays/advanced_index.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

// Operands of a concatenation, cast and checked to have equal ranks.
struct Parts {
  std::vector<Operand> operands;
  std::vector<ValueId> values;
  std::vector<Dim> shape;  // the common extents; that of the joined axis is the first operand's
};

Result<std::vector<Ref>> items_of(const Ref& sequence) {
  if (sequence->kind != AbstractKind::tuple && sequence->kind != AbstractKind::list) {
    return fail(Reason::unsupported_argument,
                "a sequence of arrays that is no tuple or list; plain form: a tuple or list of the arrays");
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
      if (!capture.facts().expect_equal(operand.shape[k], parts.shape[k]))
        return fail(Reason::will_raise, "the extents do not match");
    }
  }
  return Unit{};
}

}  // namespace

// concatenate(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')
Result<Ref> numpy_concatenate(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"arrays", "axis", "out", "dtype", "casting"}, 1, 3, 1}));
  if (!is_none(given[2])) return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call without out");
  if (is_dynamic_list(given[0]) && !given[1] && is_none(given[3])) return concatenated_items(capture, given[0]);
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
    ValueId value = capture.values().astype(capture.memory().read(operand.ref), *dtype);
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
  return capture.values().fresh_array(capture.build().concatenate(parts.values, axis, order));
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
  return capture.values().fresh_array(capture.build().pointwise(Op::where, values, {dtype}, ValueKind::array, order));
}

}  // namespace accel
