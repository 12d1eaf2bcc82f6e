// matmul and other gufuncs of vectors and matrices, dot and inner.

#include <map>

#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/arrays/views.h"
#include "capture/numpy/calls/callbacks.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

using CoreAxes = std::vector<int>;  // axes of one operand or the result, from core_signature

std::vector<Dim> outer_shape(const Operand& operand, const CoreAxes& core) {
  return {operand.shape.begin(), operand.shape.end() - static_cast<std::ptrdiff_t>(core.size())};
}

std::vector<Dim> core_shape(const std::vector<Dim>& shape, const CoreAxes& core) {
  return {shape.end() - static_cast<std::ptrdiff_t>(core.size()), shape.end()};
}

// The operand with its outer axes broadcast, and the contracted axis' extent as the same expression in both operands.
ValueId spread(Capture& capture, ValueId value, const CoreAxes& core, int axis, const std::vector<Dim>& outer, Dim contracted) {
  std::vector<Dim> inner = core_shape(capture.graph().type(value).shape, core), shape = outer;
  for (size_t k = 0; k < inner.size(); ++k) shape.push_back(core[k] == axis ? contracted : inner[k]);
  return broadcast_value(capture, value, shape);
}

// Extents of the core axes by axis number; the left operand's extent where both operands have the axis.
std::map<int, Dim> core_extents(const std::vector<CoreAxes>& axes, const std::vector<Dim>& left,
                                const std::vector<Dim>& right) {
  std::map<int, Dim> out;
  for (auto [shape, core] : {std::pair{&left, &axes[0]}, std::pair{&right, &axes[1]}}) {
    std::vector<Dim> inner = core_shape(*shape, *core);
    for (size_t k = 0; k < inner.size(); ++k) out.emplace((*core)[k], inner[k]);
  }
  return out;
}

// NumPy's loops compute differently if BLAS cannot write into the result's memory.
Status check_gufunc_out(Capture& capture, const Ref& out) {
  if (!out)
    return fail(Reason::unsupported_argument,
                "out for some of the results; plain form: assign each result of the call without out");
  capture.resolver().look(out);
  if (out->kind != AbstractKind::array) return fail(Reason::will_raise, "out is no array");
  if (!is_c_contiguous(capture, out)) return fail(Reason::unsupported_layout, "out of a gufunc that is not contiguous");
  return capture.memory().check_storable(out);
}

Status check_same_type(Capture& capture, const Ref& out, DType dtype, const std::vector<Dim>& shape) {
  const StridedLayout& layout = layout_of(out);
  if (layout.dtype != dtype) return fail(Reason::unsupported_dtype, "out of another dtype than the gufunc's result");
  bool same = layout.shape.size() == shape.size();
  for (size_t k = 0; same && k < shape.size(); ++k) same = capture.facts().decide_equal(layout.shape[k], shape[k]);
  return same ? Status(Unit{})
              : fail(Reason::unsupported_argument,
                     "out of another shape than the gufunc's result; plain form: out[...] = the call without out");
}

}  // namespace

Result<Ref> apply_gufunc(Capture& capture, Op op, const std::vector<Ref>& refs, const UfuncOptions& options) {
  if (options.keep_arrays || options.where)
    return fail(Reason::unsupported_argument, "out=... or where of a gufunc; plain form: numpy.asarray(the call without out)");
  for (const Ref& out : options.outs) {
    ACCEL_TRY([[maybe_unused]] Unit fits, check_gufunc_out(capture, out));
  }
  if (refs.size() != 2) return fail(Reason::unsupported_call, "a gufunc that accel does not know");
  const std::vector<CoreAxes> axes = core_signature(op);
  const int summed = axes[1][0];  // the axis common to both operands
  ACCEL_TRY(Operand left, read_operand(capture, refs[0]));
  ACCEL_TRY(Operand right, read_operand(capture, refs[1]));
  size_t least_left = op == Op::matmul ? 1 : axes[0].size();
  size_t least_right = op == Op::matmul ? 1 : axes[1].size();
  if (left.shape.size() < least_left || right.shape.size() < least_right) {
    return fail(Reason::will_raise, "a gufunc operand without the core axes");
  }
  const OperandType types[] = {left.type, right.type};
  const char* casting = options.casting.empty() ? nullptr : options.casting.c_str();
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc_of(op), types, options.dtype.get(), false, casting));
  // matmul treats a vector as a row on the left and a column on the right.
  bool row = op == Op::matmul && left.shape.size() == 1, column = op == Op::matmul && right.shape.size() == 1;
  const std::vector<Operand> given = {left, right};
  Dim one = capture.dims().constant(1);
  if (row) left.shape.insert(left.shape.begin(), one);
  if (column) right.shape.push_back(one);
  std::map<int, Dim> extents = core_extents(axes, left.shape, right.shape);
  Dim contracted = extents.at(summed);
  std::vector<Dim> right_core = core_shape(right.shape, axes[1]);
  if (!capture.facts().expect_equal(right_core[0], contracted))
    return fail(Reason::will_raise, "the core extents do not match");
  ACCEL_TRY(std::vector<Dim> outer, broadcast_shapes(capture, {outer_shape(left, axes[0]), outer_shape(right, axes[1])}));

  Builder& build = capture.build();
  ACCEL_TRY(ValueId l, gufunc_operand(capture, left, dtypes[0]));
  ACCEL_TRY(ValueId r, gufunc_operand(capture, right, dtypes[1]));
  if (row) l = build.expand_dims(l, {0});
  if (column) r = build.expand_dims(r, {1});
  l = spread(capture, l, axes[0], summed, outer, contracted);
  r = spread(capture, r, axes[1], summed, outer, contracted);
  Type result{ValueKind::array, dtypes[2], outer, {}};
  for (int axis : axes[2]) result.shape.push_back(extents.at(axis));
  int rank = result.rank();
  const std::vector<size_t> core = {row ? 1 : axes[0].size(), column ? 1 : axes[1].size()};
  result.order = outer_order(capture, given, core, outer.size());
  for (int axis = static_cast<int>(outer.size()); axis < rank && !result.order.empty(); ++axis)
    result.order.push_back(static_cast<uint8_t>(axis));
  std::vector<int> dropped;
  if (row) dropped.push_back(rank - 2);
  if (column) dropped.push_back(rank - 1);
  if (!options.outs.empty()) {
    std::vector<Dim> shape = result.shape;
    for (size_t k = dropped.size(); k-- > 0;) shape.erase(shape.begin() + dropped[k]);
    ACCEL_TRY([[maybe_unused]] Unit same, check_same_type(capture, options.outs[0], dtypes[2], shape));
  }
  ValueId value = build.gufunc(op, {l, r}, result);
  if (!dropped.empty()) value = build.squeeze(value, dropped);
  if (!options.outs.empty()) return store_result(capture, options.outs[0], value);
  return wrap_result(capture, value, false);
}

namespace {

// Whether BLAS cannot use the vector's stride, because it is negative or 0. For a single element the stride does not matter,
// but for a run-time extent a check would make all others exit; such a vector is copied, which changes nothing.
bool is_walked_backwards(Capture& capture, const Operand& operand) {
  if (capture.facts().decide(layout_of(operand.ref).strides[0], Comparison::gt, capture.dims().constant(0))) return false;
  return capture.facts().is_runtime(operand.shape[0]) || !is_one(capture, operand.shape[0]);
}

// Copies operands as np.dot and np.inner do: for contiguous ones they call BLAS like matmul, others they copy first.
Status make_dot_operand(Capture& capture, Operand& operand) {
  if (!operand.is_array() || operand.shape.empty() || operand.shape.size() > 2) {
    return fail(Reason::unsupported_argument,
                "dot of anything but vectors and matrices; plain form: numpy.tensordot(a, b, (-1, -2))");
  }
  if (operand.type.dtype == DType::float16) return fail(Reason::unsupported_dtype, "dot of float16");
  if (!is_inexact(operand.type.dtype)) return Unit{};
  bool matrix = operand.shape.size() == 2;
  bool copies = matrix ? !is_c_contiguous(capture, operand.ref) && !is_f_contiguous(capture, operand.ref)
                       : is_walked_backwards(capture, operand);
  if (matrix && copies && (is_one(capture, operand.shape[0]) || is_one(capture, operand.shape[1])))
    return fail(Reason::unsupported_layout, "dot of a row or column that is not contiguous");
  if (copies) operand.ref = copied(capture, capture.memory().read(operand.ref), {});
  return Unit{};
}

// np.dot casts arrays in their own memory order.
Status make_one_type(Capture& capture, Operand& left, Operand& right) {
  if (left.type.dtype == right.type.dtype) return Unit{};
  const OperandType types[] = {left.type, right.type};
  ACCEL_TRY(std::vector<DType> dtypes, resolve_dtypes(ufunc_of(Op::matmul), types, nullptr, false));
  for (Operand* operand : {&left, &right}) {
    ACCEL_TRY(ValueId value, operand_value(capture, *operand, dtypes[0]));
    if (operand->type.dtype != dtypes[0]) operand->ref = capture.values().fresh_array(value);
  }
  return Unit{};
}

Result<Ref> product(Capture& capture, Operand left, Operand right, const Ref& out = nullptr) {
  ACCEL_TRY([[maybe_unused]] Unit left_fits, make_dot_operand(capture, left));
  ACCEL_TRY([[maybe_unused]] Unit right_fits, make_dot_operand(capture, right));
  ACCEL_TRY([[maybe_unused]] Unit one_type, make_one_type(capture, left, right));
  UfuncOptions options;
  if (out) options.outs = {out};
  return apply_gufunc(capture, Op::matmul, {left.ref, right.ref}, options);
}

// The product of the first elements of two vectors of equal length; any number if they are empty.
Result<ValueId> first_product(Capture& capture, const Operand& left, const Operand& right, DType dtype) {
  Builder& build = capture.build();
  Dim zero = capture.dims().constant(0), one = capture.dims().constant(1);
  std::vector<ValueId> parts;
  for (const Operand& operand : {left, right}) {
    ACCEL_TRY(ValueId whole, operand_value(capture, operand, dtype));
    parts.push_back(build.slice(whole, {zero}, {one}, {capture.dims().min(left.shape[0], one)}));
  }
  ValueId products = build.pointwise(Op::multiply, parts, {dtype});
  return build.reduce(Op::multiply, products, {0}, dtype, no_value, false, ValueKind::numpy_scalar);
}

// For an extent of 1, np.dot and np.inner call BLAS differently: zero times NaN may be zero, and a negative zero is kept. Two
// one-element vectors are multiplied.
Result<Ref> product_of_several(Capture& capture, const Operand& left, const Operand& right, const Ref& out = nullptr) {
  DType dtype = left.type.dtype;
  if (left.shape.empty() || !(is_inexact(dtype) || is_inexact(right.type.dtype))) return product(capture, left, right, out);
  Dim extent = left.shape.back();
  bool vectors = left.shape.size() == 1 && right.shape.size() == 1;
  bool multiplied = vectors && !out && dtype == right.type.dtype && (dtype == DType::float32 || dtype == DType::float64);
  bool either = multiplied && capture.facts().is_runtime(extent);
  if (!either && !is_one(capture, extent)) return product(capture, left, right, out);
  if (!multiplied) return fail(Reason::unsupported_argument, "dot over an axis of extent 1");
  if (!capture.facts().expect_equal(right.shape[0], extent)) return fail(Reason::will_raise, "the extents do not match");
  ACCEL_TRY(ValueId single, first_product(capture, left, right, dtype));
  if (!either) return wrap_result(capture, single, false);
  ACCEL_TRY(Ref result, product(capture, left, right));
  ACCEL_TRY(Operand of_several, read_operand(capture, result));
  ACCEL_TRY(ValueId several, operand_value(capture, of_several, dtype));
  Builder& build = capture.build();
  ValueId one = build.constant(Literal::of_int(DType::int64, 1), ValueKind::numpy_scalar);
  ValueId is_single =
      build.pointwise(Op::equal, {build.dim(extent, ValueKind::numpy_scalar), one}, {DType::bool_}, ValueKind::numpy_scalar);
  ValueId value = build.pointwise(Op::where, {is_single, single, several}, {dtype}, ValueKind::numpy_scalar);
  return wrap_result(capture, value, false);
}

}  // namespace

// dot(a, b, out=None)
Result<Ref> numpy_dot(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "b", "out"}, 2}));
  ACCEL_TRY(Operand left, read_operand(capture, given[0]));
  ACCEL_TRY(Operand right, read_operand(capture, given[1]));
  // NumPy computes a vector times a number by BLAS's axpy on zeros. Whether axpy rounds the product before the addition depends
  // on the BLAS, so NumPy is called.
  const Operand& array = left.shape.empty() ? right : left;
  if (left.is_array() != right.is_array() && array.shape.size() == 1 && is_none(given[2]) &&
      is_c_contiguous(capture, array.ref))
    return call_of_shape(capture, callable, arguments, array.shape);
  return product_of_several(capture, left, right, is_none(given[2]) ? Ref() : given[2]);
}

// inner(a, b)
Result<Ref> numpy_inner(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "b"}, 2, 99, 2}));
  ACCEL_TRY(Operand left, read_operand(capture, given[0]));
  ACCEL_TRY(Operand right, read_operand(capture, given[1]));
  if (right.shape.size() == 2) right = *as_operand(capture, transposed_view(capture, right.ref, {1, 0}));
  return product_of_several(capture, left, right);
}

// vdot(a, b) of real arrays: the dot product of both in C order.
Result<Ref> numpy_vdot(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "b"}, 2, 99, 2}));
  std::vector<Operand> flat;
  for (const Ref& ref : given) {
    ACCEL_TRY(Operand operand, read_operand(capture, ref));
    if (!operand.is_array() || dtype_kind(operand.type.dtype) == 'c')
      return fail(Reason::unsupported_argument, "vdot of these operands");
    if (operand.shape.size() != 1) {
      if (!is_c_contiguous(capture, operand.ref))
        return fail(Reason::unsupported_layout, "vdot of an array that is not contiguous");
      operand = *as_operand(capture, reshaped(capture, operand.ref, {element_count(capture, operand.shape)}));
    }
    // dot copies vectors with negative strides; vdot adds their products one by one.
    if (!capture.facts().decide(layout_of(operand.ref).strides[0], Comparison::gt, capture.dims().constant(0)))
      return fail(Reason::unsupported_layout, "vdot of an array that lies backwards");
    flat.push_back(std::move(operand));
  }
  return product(capture, flat[0], flat[1]);
}

}  // namespace accel
