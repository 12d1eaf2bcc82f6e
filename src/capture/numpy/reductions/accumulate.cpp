// ufunc.accumulate, cumsum and cumprod; ufunc.at.

#include <algorithm>

#include "capture/numpy/arrays/basic_index.h"
#include "capture/numpy/arrays/selection.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// The dtype of the accumulator; fails if the loop has several dtypes.
Result<DType> accumulator(PyObject* ufunc, Op op, DType from, PyObject* dtype) {
  std::vector<OperandType> types = {{OperandType::Kind::array, from}};
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc, types, dtype, true));
  bool alike = dtypes[0] == dtypes[1] && dtypes[0] == dtypes[2];
  if (!alike || !is_inline(op, dtypes[0]) || op_info(op).results != 1)
    return fail(Reason::unsupported_dtype, "an accumulation in a loop of several dtypes");
  if (op == Op::multiply && dtype_kind(dtypes[0]) == 'c')
    return fail(Reason::unsupported_dtype, "a product of complex numbers");
  return dtypes[0];
}

Result<Ref> accumulate(Capture& capture, PyObject* ufunc, const Ref& array, const Ref& axis, bool flat, const Ref& dtype) {
  std::optional<Op> op = op_of_ufunc(ufunc);
  if (!op || op_class(*op) != OpClass::pointwise || op_info(*op).arity != 2)
    return fail(Reason::unsupported_call, "an accumulation with this ufunc");
  EventCall events(capture, "accumulate");
  ACCEL_TRY(Operand operand, read_operand(capture, array));
  if (!operand.is_array()) return fail(Reason::unsupported_value, "an accumulation of a scalar");
  ACCEL_TRY(PyRef descr, read_descr(capture, dtype));
  ACCEL_TRY(DType into, accumulator(ufunc, *op, operand.type.dtype, descr.get()));
  int along = 0;
  if (!flat && axis) {  // a 0-d array counts as one-dimensional
    ACCEL_TRY(along, read_axis(capture, axis, std::max(static_cast<int>(operand.shape.size()), 1)));
  }
  if (flat || operand.shape.empty())
    operand = *as_operand(capture, reshaped(capture, operand.ref, {element_count(capture, operand.shape)}));
  std::vector<uint8_t> order = result_order(capture, {operand}, operand.shape);
  ACCEL_TRY(ValueId value, operand_value(capture, operand, into));
  value = capture.build().accumulate(*op, value, along);
  capture.graph().values[static_cast<size_t>(value)].type.order = order;
  return capture.values().fresh_array(value);
}

Result<Ref> accumulate_method(Capture& capture, Op op, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "axis", "dtype", "out"}, 1, 99, 1}));
  if (!is_none(given[3]))
    return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call with dtype=out.dtype");
  return accumulate(capture, ufunc_of(op), given[0], given[1], is_none(given[1]), given[2]);
}

}  // namespace

Result<Ref> numpy_array_cumsum(Capture& capture, PyObject*, const CallArguments& arguments) {
  return accumulate_method(capture, Op::add, arguments);
}
Result<Ref> numpy_array_cumprod(Capture& capture, PyObject*, const CallArguments& arguments) {
  return accumulate_method(capture, Op::multiply, arguments);
}

// ufunc.accumulate(array, axis=0, dtype=None, out=None)
Result<Ref> numpy_ufunc_accumulate(Capture& capture, PyObject* callable, const CallArguments& all) {
  ACCEL_TRY(UfuncMethod method, split_ufunc_method(callable, all));
  ACCEL_TRY(auto given, bind_arguments(method.arguments, {{"array", "axis", "dtype", "out"}, 1, 99, 1}));
  if (!is_none(given[3]))
    return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call with dtype=out.dtype");
  if (given[1] && is_none(given[1]))
    return fail(Reason::unsupported_argument, "axis=None of accumulate; plain form: axis=0 of an array with one axis");
  ACCEL_TRY(Operand operand, read_operand(capture, given[0]));
  if (!operand.is_array() || operand.shape.empty()) return fail(Reason::will_raise, "cannot accumulate on a scalar");
  return accumulate(capture, method.ufunc, given[0], given[1], false, given[2]);
}

// ufunc.at(a, indices, b)
Result<Ref> numpy_ufunc_at(Capture& capture, PyObject* callable, const CallArguments& all) {
  ACCEL_TRY(UfuncMethod method, split_ufunc_method(callable, all));
  ACCEL_TRY(auto given, bind_arguments(method.arguments, {{"a", "indices", "b"}, 2, 99, 3}));
  std::optional<Op> op = op_of_ufunc(method.ufunc);
  if (!op || op_class(*op) != OpClass::pointwise || op_info(*op).arity != 2 || op_info(*op).results != 1 || !given[2])
    return fail(Reason::unsupported_call, "at of this ufunc");
  if (given[0]->kind != AbstractKind::array) return fail(Reason::will_raise, "first operand must be array");
  EventCall events(capture, op_info(*op).name);
  DType dtype = layout_of(given[0]).dtype;
  ACCEL_TRY(Operand value, read_operand(capture, given[2]));
  std::vector<OperandType> types = {{OperandType::Kind::array, dtype}, {OperandType::Kind::array, value.type.dtype}};
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(method.ufunc, types, nullptr, false));
  bool alike = dtypes[0] == dtype && dtypes[1] == dtype && dtypes[2] == dtype && is_inline(*op, dtype);
  if (!alike || (dtype_kind(dtype) == 'c' && *op == Op::multiply))
    return fail(Reason::unsupported_dtype, "at in a loop of several dtypes");
  ACCEL_TRY(std::vector<IndexPart> parts, index_parts(capture, given[0], given[1]));
  if (!has_advanced(parts)) return fail(Reason::unsupported_index, "at without an integer array");
  ACCEL_TRY([[maybe_unused]] Unit done, update_elements(capture, given[0], parts, given[2], *op));
  return capture.values().constant(Py_None);
}

}  // namespace accel
