// Assignments to arrays: setitem's, copyto, fill.

#include "capture/numpy/arrays/assign.h"

#include "capture/numpy/arrays/creation.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

// Whether a value is stored into itself: x[1:] += 1 ends with such a store.
bool is_same_view(const Ref& target, const Operand& source) {
  if (!source.is_array() || source.ref->array.storage != target->array.storage) return false;
  return layout_of(target) == layout_of(source.ref);
}

// The byte distance from the first to the last element of a vector.
Dim span_of(DimTable& dims, Dim extent, Dim stride) { return dims.mul(dims.sub(extent, dims.constant(1)), stride); }

// Whether vector `b` begins after the last byte of `a`; both have strides >= 0.
bool comes_after(Capture& capture, const StridedLayout& a, Dim extent, const StridedLayout& b) {
  DimTable& dims = capture.dims();
  Dim end = dims.add(a.offset, dims.add(span_of(dims, extent, a.strides.back()), dims.constant(item_size(a.dtype))));
  return capture.facts().prove(dims.sub(b.offset, end));
}

// Whether NumPy copies between two vectors of one memory element by element without a temporary copy, although they may
// overlap: it does if their strides differ and have the same sign.
bool is_copied_in_place(Capture& capture, const Ref& target, const Operand& source) {
  if (!source.is_array() || source.ref->array.storage != target->array.storage) return false;
  const StridedLayout &to = layout_of(target), &from = layout_of(source.ref);
  if (to.shape.size() != 1 || from.shape.empty() || to.strides[0] == from.strides.back()) return false;
  DimTable& dims = capture.dims();
  if (dims.is_constant(from.shape.back(), 1) || dims.is_constant(to.shape[0], 1)) return false;
  auto negated = [&](Dim d) { return dims.sub(dims.constant(0), d); };
  bool up[] = {capture.facts().prove(to.strides[0]), capture.facts().prove(from.strides.back())};
  bool down[] = {!up[0] && capture.facts().prove(negated(to.strides[0])),
                 !up[1] && capture.facts().prove(negated(from.strides.back()))};
  if ((up[0] && down[1]) || (down[0] && up[1])) return false;
  bool apart = up[0] && up[1] && (comes_after(capture, to, to.shape[0], from) || comes_after(capture, from, to.shape[0], to));
  return !apart;
}

}  // namespace

Result<Operand> read_source(Capture& capture, const Ref& value, DType dtype, const std::string& casting) {
  capture.resolver().look(value);
  if (!is_array_sequence(value) || casting != "unsafe") return read_operand(capture, value);
  capture.resolver().look_deep(value);
  ACCEL_TRY(Ref array, array_of_sequence(capture, value, dtype));
  return *as_operand(capture, array);
}

namespace {

Status check_cast(const Operand& source, DType dtype, const std::string& casting) {
  DType from = source.type.dtype;
  bool weak = source.type.kind != Kind::array && source.type.kind != Kind::numpy_scalar;
  if (!weak && !can_cast(from, dtype, casting)) return fail(Reason::will_raise, "the cast is not allowed");
  if (weak && casting != "unsafe" && !can_cast(from, dtype, "same_kind"))
    return fail(Reason::unsupported_argument, "a Python number of another kind");
  if (dtype_kind(from) == 'c' && dtype_kind(dtype) != 'c' && dtype_kind(dtype) != 'b')
    return fail(Reason::floating_point_event, "a cast that discards the imaginary part warns");
  return Unit{};
}

// Drops leading axes of extent 1 and requires that `shape` broadcasts to the target's.
Status fit_shape(Capture& capture, const std::vector<Dim>& target, std::vector<Dim>& shape) {
  while (shape.size() > target.size()) {
    if (!is_one(capture, shape.front())) return fail(Reason::will_raise, "could not broadcast input array");
    shape.erase(shape.begin());
  }
  ACCEL_TRY(std::vector<Dim> joined, broadcast_shapes(capture, {target, shape}));
  for (size_t k = 0; k < joined.size(); ++k) {
    if (!capture.facts().expect_equal(joined[k], target[k])) return fail(Reason::will_raise, "could not broadcast input array");
  }
  return Unit{};
}

}  // namespace

Result<std::optional<Operand>> read_mask(Capture& capture, const Ref& where) {
  if (!where || is_object(where, Py_True)) return std::optional<Operand>();
  ACCEL_TRY(Operand mask, read_operand(capture, where));
  if (mask.type.dtype != DType::bool_) return fail(Reason::will_raise, "where must be bool");
  return std::optional<Operand>(std::move(mask));
}

Result<ValueId> mask_value(Capture& capture, const Operand& mask, const std::vector<Dim>& shape) {
  if (mask.shape.size() > shape.size()) return fail(Reason::unsupported_argument, "where with more axes than the array");
  std::vector<Dim> own = mask.shape;
  ACCEL_TRY([[maybe_unused]] Unit fits, fit_shape(capture, shape, own));
  ACCEL_TRY(ValueId value, operand_value(capture, mask, DType::bool_));
  value = broadcast_value(capture, value, shape);
  bool number = capture.graph().type(value).rank() == 0 && !shape.empty();
  return number ? capture.build().full(value, shape) : value;
}

namespace {

// Whether NumPy casts a 0-d array once before the stores, whatever the mask selects: it does for more than one element.
bool is_cast_ahead(Capture& capture, const Operand& source, DType dtype, const std::vector<Dim>& shape) {
  if (!source.is_array() || !source.shape.empty() || cast_events(source.type.dtype, dtype) == 0) return false;
  return capture.facts().decide(element_count(capture, shape), Comparison::gt, capture.dims().constant(1));
}

// A number that is stored to all elements, cast to the array's dtype.
Result<ValueId> cast_number(Capture& capture, const Operand& source, DType dtype) {
  return source.is_array() ? operand_value(capture, source, dtype) : fill_value(capture, source, dtype);
}

}  // namespace

Ref number_of(Capture& capture, const Ref& value) {
  auto operand = as_operand(capture, value);
  if (!operand || !operand->is_array() || !operand->shape.empty()) return value;
  ValueId element =
      capture.build().pointwise(Op::astype, {capture.memory().read(value)}, {operand->type.dtype}, ValueKind::numpy_scalar);
  return capture.values().scalar(element);
}

Status assign(Capture& capture, const Ref& target, const Ref& value, const std::string& casting, const Ref& where) {
  EventCall events(capture, "cast");
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(target));
  const std::vector<Dim> shape = layout_of(target).shape;
  DType dtype = layout_of(target).dtype;
  ACCEL_TRY(Operand source, read_source(capture, value, dtype, casting));
  ACCEL_TRY(std::optional<Operand> mask, read_mask(capture, where));
  if (is_same_view(target, source)) return Unit{};
  ACCEL_TRY([[maybe_unused]] Unit castable, check_cast(source, dtype, casting));
  ACCEL_TRY([[maybe_unused]] Unit fits, fit_shape(capture, shape, source.shape));
  if (is_copied_in_place(capture, target, source))
    return fail(Reason::unsupported_layout, "NumPy copies between views that overlap, element by element");
  if (!source.is_array() || is_cast_ahead(capture, source, dtype, shape)) {
    ACCEL_TRY(ValueId number, cast_number(capture, source, dtype));
    ValueId condition = no_value;
    if (mask) {
      ACCEL_TRY(condition, mask_value(capture, *mask, shape));
    }
    store_result(capture, target, number, condition);
    return Unit{};
  }
  ValueId contents = broadcast_value(capture, with_shape(capture, capture.memory().read(source.ref), source.shape), shape);
  // Casts are applied to stored elements only.
  if (source.shape.empty() && !shape.empty()) contents = capture.build().full(contents, shape);
  ValueId condition = no_value;
  if (mask) {
    ACCEL_TRY(condition, mask_value(capture, *mask, shape));
    contents = capture.build().lanes(contents, condition);
  }
  store_result(capture, target, capture.values().astype(contents, dtype), condition);
  return Unit{};
}

Ref store_result(Capture& capture, const Ref& out, ValueId value, ValueId mask) {
  capture.memory().store(out, value, mask);
  return out;
}

namespace {

// copyto converts NumPy scalars to 0-d arrays, but not Python numbers.
Result<Ref> source_of_copy(Capture& capture, const Ref& value, DType dtype) {
  if (is_array_sequence(value)) return array_of_sequence(capture, value, std::nullopt);
  auto number = as_operand(capture, value);
  bool is_scalar = number && number->type.kind == Kind::numpy_scalar;
  if (!is_scalar || cast_events(number->type.dtype, dtype) == 0) return value;
  ACCEL_TRY(ValueId element, capture.values().scalar_value(number->ref));
  return capture.values().fresh_array(capture.build().full(element, {}));
}

}  // namespace

// copyto(dst, src, casting='same_kind', where=True)
Result<Ref> numpy_copyto(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"dst", "src", "casting", "where"}, 2}));
  capture.resolver().look(given[0]);
  if (given[0]->kind == AbstractKind::object) return capture.resolver().refusal(given[0]);
  if (given[0]->kind != AbstractKind::array) return fail(Reason::will_raise, "copyto into no array");
  ACCEL_TRY(std::string casting, read_text(capture, given[2]));
  if (casting.empty()) casting = "same_kind";
  ACCEL_TRY(Ref source, source_of_copy(capture, given[1], layout_of(given[0]).dtype));
  ACCEL_TRY([[maybe_unused]] Unit done, assign(capture, given[0], source, casting, given[3]));
  return capture.values().constant(Py_None);
}

Result<Ref> numpy_array_fill(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "value"}, 2, 99, 2}));
  if (given[0]->kind != AbstractKind::array) return fail(Reason::unsupported_value, "fill of a NumPy scalar");
  auto value = as_operand(capture, given[1]);
  if (!value || value->is_array())
    return fail(Reason::unsupported_argument, "fill with an array; plain form: array[...] = values");
  ACCEL_TRY([[maybe_unused]] Unit in_range, require_element_in_range(capture, *value, layout_of(given[0]).dtype));
  ACCEL_TRY([[maybe_unused]] Unit done, assign(capture, given[0], given[1], "unsafe"));
  return capture.values().constant(Py_None);
}

}  // namespace accel
