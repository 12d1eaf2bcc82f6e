// Functions that find or select elements: nonzero, compress, take.

#include <algorithm>
#include <numeric>

#include "capture/numpy/arrays/advanced_index.h"
#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/arrays/selection.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

std::vector<int> axes_of(size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Result<Operand> read_array(Capture& capture, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_operand(capture, ref));
  if (!operand.is_array() || operand.shape.empty()) return fail(Reason::unsupported_value, "an array with axes is needed");
  return operand;
}

Result<Ref> array_operand(Capture& capture, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_operand(capture, ref));
  if (operand.is_array()) return operand.ref;
  ACCEL_TRY(ValueId value, operand_value(capture, operand, operand.type.dtype));
  return capture.values().fresh_array(capture.build().full(value, {}));
}

// The elements of `array` at the indices along `axis`.
ValueId taken_value(Capture& capture, const Ref& array, ValueId index, int axis) {
  Builder& build = capture.build();
  std::vector<int> axes = axes_of(layout_of(array).shape.size());
  std::rotate(axes.begin(), axes.begin() + axis, axes.begin() + axis + 1);
  ValueId base = capture.memory().read(array);
  if (axis > 0) base = build.transpose(base, axes);
  ValueId value = build.take(base, {index});
  if (axis == 0) return value;
  size_t rank = capture.graph().type(value).shape.size();
  auto own = static_cast<std::ptrdiff_t>(capture.graph().type(index).shape.size());
  std::vector<int> back = axes_of(rank);
  std::rotate(back.begin(), back.begin() + own, back.begin() + own + axis);
  return build.transpose(value, back);
}

// An array and one of its axes; for axis=None the flattened array.
struct Along {
  Ref array;
  int axis = 0;
};

// Whether an array is in the memory of `out`.
bool shares_memory(const Ref& out, const Ref& array) {
  return array->kind == AbstractKind::array && array->array.storage == out->array.storage;
}

// The result of take: in C order in fresh memory, or stored into `out`, which NumPy fills in the array's dtype after all
// checks. `unchecked`: all indices are valid, so NumPy may fill `out` while it reads them.
Result<Ref> placed(Capture& capture, const Along& along, const Ref& indices, ValueId index, const Ref& out, bool unchecked) {
  const auto& [array, axis] = along;
  if (is_none(out)) {
    ValueId value = taken_value(capture, array, index, axis);
    return axis == 0 ? wrap_result(capture, value, false) : copied(capture, value, {});
  }
  capture.resolver().look(out);
  if (out->kind == AbstractKind::object) return capture.resolver().refusal(out);
  if (out->kind != AbstractKind::array) return fail(Reason::will_raise, "out is no array");
  if (layout_of(out).dtype != layout_of(array).dtype)
    return fail(Reason::unsupported_dtype, "out of another dtype; plain form: out[...] = the call without out");
  if (unchecked && shares_memory(out, indices)) return fail(Reason::unsupported_layout, "out shares memory with the indices");
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(out));
  ValueId value = taken_value(capture, array, index, axis);
  const std::vector<Dim> shape = capture.graph().type(value).shape, wanted = layout_of(out).shape;
  bool fits = shape.size() == wanted.size();
  for (size_t k = 0; fits && k < shape.size(); ++k) fits = capture.facts().expect_equal(shape[k], wanted[k]);
  if (!fits) return fail(Reason::will_raise, "out has another shape");
  return store_result(capture, out, value);
}

ValueId int_value(Capture& capture, Dim d) { return capture.build().dim(d, ValueKind::numpy_scalar); }

Result<ValueId> bounded_index(Capture& capture, const Ref& indices, Dim extent, const std::string& mode) {
  if (mode.empty() || mode == "raise") {
    ACCEL_TRY(CheckedIndex checked, checked_index(capture, indices, extent));
    ACCEL_TRY([[maybe_unused]] Unit held, require_all(capture, {checked.in_range}, "an index is out of bounds"));
    return checked.index;
  }
  DimTable& dims = capture.dims();
  if (!capture.facts().decide(extent, Comparison::gt, dims.constant(0)))
    return fail(Reason::unsupported_argument, "an index of an empty axis; plain form: a test of the length before");
  ACCEL_TRY(ValueId index, operand_value(capture, *as_operand(capture, indices), DType::int64));
  Builder& build = capture.build();
  if (mode == "wrap") return build.pointwise(Op::remainder, {index, int_value(capture, extent)}, {DType::int64});
  if (mode != "clip") return fail(Reason::will_raise, "clipmode must be one of 'clip', 'raise', or 'wrap'");
  ValueId low = build.pointwise(Op::maximum, {index, int_value(capture, dims.constant(0))}, {DType::int64});
  return build.pointwise(Op::minimum, {low, int_value(capture, dims.sub(extent, dims.constant(1)))}, {DType::int64});
}

Result<Along> read_along(Capture& capture, const Operand& operand, const Ref& axis) {
  if (is_none(axis)) return Along{reshaped(capture, operand.ref, {element_count(capture, operand.shape)}), 0};
  ACCEL_TRY(int number, read_axis(capture, axis, static_cast<int>(operand.shape.size())));
  return Along{operand.ref, number};
}

}  // namespace

// The positions along each axis are columns of one array.
Result<Ref> nonzero_tuple(Capture& capture, const Ref& array) {
  ACCEL_TRY(Operand operand, read_array(capture, array));
  ACCEL_TRY(ValueId mask, operand_value(capture, operand, DType::bool_));
  ACCEL_TRY(std::vector<ValueId> places, nonzero_places(capture, mask));
  Builder& build = capture.build();
  DimTable& dims = capture.dims();
  Dim count = capture.graph().type(places[0]).shape[0], one = dims.constant(1), zero = dims.constant(0);
  std::vector<ValueId> columns;
  for (ValueId place : places) columns.push_back(build.expand_dims(place, {1}));
  ValueId all = columns.size() == 1 ? build.copy(columns[0]) : build.concatenate(columns, 1);
  Ref table = capture.values().fresh_array(all);
  table->array.storage->strided_when_empty = true;
  const StridedLayout layout = layout_of(table);
  std::vector<Ref> out;
  for (size_t k = 0; k < places.size(); ++k) {
    ViewMaker view(capture, table);
    Dim at = dims.constant(static_cast<int64_t>(k));
    view.slice({zero, at}, {one, one}, {count, one});
    view.squeeze({1});
    out.push_back(view.finish({{count}, {layout.strides[0]}, dims.mul(at, layout.strides[1]), layout.dtype}));
  }
  return capture.values().tuple(std::move(out));
}

Result<Ref> numpy_array_nonzero(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self"}, 1, 99, 1}));
  return nonzero_tuple(capture, given[0]);
}

// ndarray.take(indices, axis=None, out=None, mode='raise')
Result<Ref> numpy_array_take(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "indices", "axis", "out", "mode"}, 2, 99, 1}));
  ACCEL_TRY(std::string mode, read_text(capture, given[4]));
  ACCEL_TRY(Operand operand, read_array(capture, given[0]));
  ACCEL_TRY(Ref indices, array_operand(capture, given[1]));
  char kind = dtype_kind(layout_of(indices).dtype);
  if (kind == 'f' || kind == 'c') return fail(Reason::unsupported_argument, "indices that are no integers");
  ACCEL_TRY(Along along, read_along(capture, operand, given[2]));
  auto& [array, axis] = along;
  ACCEL_TRY(ValueId index, bounded_index(capture, indices, layout_of(array).shape[static_cast<size_t>(axis)], mode));
  return placed(capture, along, indices, index, given[3], !mode.empty() && mode != "raise");
}

// ndarray.compress(condition, axis=None, out=None)
Result<Ref> numpy_array_compress(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "condition", "axis", "out"}, 2, 99, 1}));
  ACCEL_TRY(Operand operand, read_array(capture, given[0]));
  ACCEL_TRY(Operand condition, read_array(capture, given[1]));
  if (condition.shape.size() != 1) return fail(Reason::will_raise, "condition must be a 1-d array");
  ACCEL_TRY(Along along, read_along(capture, operand, given[2]));
  auto& [array, axis] = along;
  Dim extent = layout_of(array).shape[static_cast<size_t>(axis)];
  if (!capture.facts().decide(condition.shape[0], Comparison::le, extent))
    return fail(Reason::unsupported_argument, "a condition longer than the axis; plain form: condition[:length]");
  ACCEL_TRY(ValueId mask, operand_value(capture, condition, DType::bool_));
  ACCEL_TRY(std::vector<ValueId> places, nonzero_places(capture, mask));
  return placed(capture, along, condition.ref, places[0], given[3], false);
}

}  // namespace accel
