// diagonal, trace, repeat and count_nonzero.

#include <numeric>

#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/views.h"
#include "capture/numpy/calls/callbacks.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// The read-only view that NumPy's diagonal returns for a matrix.
Result<Ref> diagonal_view(Capture& capture, const Ref& array, int64_t offset) {
  DimTable& dims = capture.dims();
  const StridedLayout from = layout_of(array);
  Dim zero = dims.constant(0), one = dims.constant(1), shift = dims.constant(std::llabs(offset));
  Dim rows = from.shape[0], columns = from.shape[1];
  Dim left_rows = offset < 0 ? dims.sub(rows, shift) : rows, left_columns = offset > 0 ? dims.sub(columns, shift) : columns;
  Dim extent = left_rows;
  if (left_rows != left_columns && capture.facts().decide(left_columns, Comparison::lt, left_rows)) extent = left_columns;
  bool empty = offset != 0 && !capture.facts().decide(extent, Comparison::gt, zero);
  if (empty) extent = zero;
  bool outside = empty && capture.facts().decide(dims.min(left_rows, left_columns), Comparison::lt, zero);
  Dim start = empty ? zero : dims.mul(shift, offset < 0 ? columns : one);
  ViewMaker view(capture, array);
  view.reshape({element_count(capture, from.shape)});
  view.slice({start}, {dims.add(columns, one)}, {extent});
  Dim moved = outside ? zero : dims.mul(shift, from.strides[offset < 0 ? 0 : 1]);
  Ref out = view.finish({{extent}, {dims.add(from.strides[0], from.strides[1])}, dims.add(from.offset, moved), from.dtype});
  out->array.writeable = false;
  return out;
}

// The diagonal for arguments offset, axis1 and axis2 of a matrix. Swapped axes only change the sign of the offset.
Result<Ref> read_diagonal(Capture& capture, const std::vector<Ref>& given) {
  if (given[0]->kind != AbstractKind::array)
    return fail(Reason::will_raise, "diag requires an array of at least two dimensions");
  auto rank = static_cast<int>(layout_of(given[0]).shape.size());
  if (rank != 2) return fail(Reason::unsupported_argument, "the diagonal of anything but a matrix");
  int64_t offset = 0;
  if (given[1]) {
    ACCEL_TRY(offset, capture.constants().require_int(given[1]));
  }
  int axes[] = {0, 1};
  for (size_t k = 0; k < 2; ++k) {
    if (!given[2 + k]) continue;
    ACCEL_TRY(axes[k], read_axis(capture, given[2 + k], rank));
  }
  if (axes[0] != 0 || axes[1] != 1)
    return fail(Reason::unsupported_argument, "axes of diagonal; plain form: array.transpose(axes).diagonal()");
  return diagonal_view(capture, given[0], offset);
}

}  // namespace

Result<Ref> numpy_array_diagonal(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "offset", "axis1", "axis2"}, 1, 99, 1}));
  return read_diagonal(capture, given);
}

Result<Ref> numpy_array_trace(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "offset", "axis1", "axis2", "dtype", "out"}, 1, 99, 1}));
  if (!is_none(given[5]))
    return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call with dtype=out.dtype");
  ACCEL_TRY(Ref diagonal, read_diagonal(capture, given));
  ReduceOptions options;
  options.axes = {0};
  ACCEL_TRY(options.dtype, read_descr(capture, given[4]));
  return reduce_array(capture, ufunc_of(Op::add), diagonal, options);
}

namespace {

// ndarray.repeat with a count for each element, called through the process. The length of the result is known at run time only.
Result<Ref> repeated_by_counts(Capture& capture, PyObject* callable, const CallArguments& arguments,
                               const std::vector<Ref>& given) {
  std::vector<Dim> shape = layout_of(given[0]).shape;
  int axis = 0;
  if (is_none(given[2])) {
    shape = {element_count(capture, shape)};
  } else {
    ACCEL_TRY(axis, read_axis(capture, given[2], static_cast<int>(shape.size())));
  }
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  BoxedResult result{ValueKind::array, layout_of(given[0]).dtype, {shape.begin(), shape.end()}, {}};
  result.hint = 2 * capture.ranges().hint(shape[static_cast<size_t>(axis)]);
  result.shape[static_cast<size_t>(axis)] = std::nullopt;
  return boxed_call(capture, std::move(made), {result})[0];
}

}  // namespace

// ndarray.repeat(repeats, axis=None)
Result<Ref> numpy_array_repeat(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "repeats", "axis"}, 2, 99, 1}));
  if (given[0]->kind != AbstractKind::array) return fail(Reason::unsupported_value, "repeat of a scalar");
  auto number = as_operand(capture, given[1]);
  if (number && number->is_array() && number->type.dtype == DType::int64)
    return repeated_by_counts(capture, callable, arguments, given);
  if (!number || number->is_array())
    return fail(Reason::unsupported_argument, "repeats that differ; plain form: repeats as an array of dtype int64");
  ACCEL_TRY(Dim times, read_dim(capture, given[1]));
  DimTable& dims = capture.dims();
  if (!capture.facts().decide(times, Comparison::ge, dims.constant(0)))
    return fail(Reason::will_raise, "repeats may not be negative");
  std::vector<Dim> shape = layout_of(given[0]).shape;
  ValueId value = capture.memory().read(given[0]);
  int axis = 0;
  if (is_none(given[2])) {
    shape = {element_count(capture, shape)};
    value = with_shape(capture, value, shape);
  } else {
    ACCEL_TRY(axis, read_axis(capture, given[2], static_cast<int>(shape.size())));
  }
  std::vector<Dim> spread = shape;
  spread.insert(spread.begin() + axis + 1, times);
  Dim& extent = shape[static_cast<size_t>(axis)];
  extent = dims.mul(extent, times);
  ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, shape, layout_of(given[0]).dtype));
  value = capture.build().broadcast_to(capture.build().expand_dims(value, {axis + 1}), spread);
  return copied(capture, capture.build().reshape(value, shape), {});
}

namespace {

// Whether count_nonzero returns a NumPy integer, as in later releases, or a Python int.
bool counts_in_numpy() {
  static const bool known = [] {
    PyRef module = PyRef::steal(PyImport_ImportModule("numpy._core.multiarray"));
    PyRef zero = PyRef::steal(PyLong_FromLong(0));
    PyRef count = PyRef::steal(module ? PyObject_CallMethod(module.get(), "count_nonzero", "O", zero.get()) : nullptr);
    if (!count) PyErr_Clear();
    return count && is_numpy_scalar(count.get());
  }();
  return known;
}

}  // namespace

Result<Ref> numpy_count_nonzero(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a"}, 1, 99, 1}));
  ACCEL_TRY(Operand array, read_operand(capture, given[0]));
  if (!array.is_array()) return fail(Reason::unsupported_argument, "count_nonzero of a scalar; plain form: int(bool(number))");
  Builder& build = capture.build();
  ACCEL_TRY(ValueId value, operand_value(capture, array, DType::bool_));
  value = capture.values().astype(value, DType::int64);
  std::vector<int> axes(array.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!axes.empty()) value = build.reduce(Op::add, value, axes, DType::int64);
  ValueKind kind = counts_in_numpy() ? ValueKind::numpy_scalar : ValueKind::py_scalar;
  return capture.values().scalar(build.pointwise(Op::astype, {value}, {DType::int64}, kind));
}

}  // namespace accel
