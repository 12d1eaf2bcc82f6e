#include "capture/numpy/arrays/flat.h"

#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"

namespace accel {

namespace {

// The elements in C order as an array that Python code never sees.
Ref flat_view(Capture& capture, const Ref& array) {
  DimTable& dims = capture.dims();
  const StridedLayout from = layout_of(array);
  Dim count = element_count(capture, from.shape);
  ViewMaker view(capture, array);
  view.reshape({count});
  if (is_c_contiguous(capture, array))
    return view.finish({{count}, {dims.constant(item_size(from.dtype))}, from.offset, from.dtype});
  return view.finish({{count}, {dims.constant(0)}, dims.constant(-1), from.dtype});  // no view has this layout
}

bool has_step(const Ref& index) {
  return index->kind == AbstractKind::slice && index->items[2]->kind == AbstractKind::scalar && index->items[2]->scalar.dim;
}

// flat[start:stop:step] with a step that depends on the shape, as in eye and fill_diagonal.
Result<Ref> stepped(Capture& capture, const Ref& flat, const Ref& index) {
  DimTable& dims = capture.dims();
  Dim zero = dims.constant(0), bounds[] = {zero, layout_of(flat).shape[0]}, size = bounds[1];
  ACCEL_TRY(Dim step, read_dim(capture, index->items[2]));
  if (!capture.facts().decide(step, Comparison::gt, zero)) return fail(Reason::unsupported_index, "a slice of flat");
  for (size_t k = 0; k < 2; ++k) {
    if (is_none(index->items[k])) continue;
    ACCEL_TRY(Dim bound, read_dim(capture, index->items[k]));
    if (capture.facts().decide(bound, Comparison::lt, zero)) return fail(Reason::unsupported_index, "a slice of flat");
    bounds[k] = capture.facts().decide(bound, Comparison::gt, size) ? size : bound;
  }
  Dim distance = dims.sub(bounds[1], bounds[0]), count = zero;
  if (capture.facts().decide(distance, Comparison::gt, zero)) {
    count = dims.floordiv(dims.add(distance, dims.sub(step, dims.constant(1))), step);
  } else {
    bounds[0] = zero;
  }
  ViewMaker view(capture, flat);
  view.slice({bounds[0]}, {step}, {count});
  StridedLayout layout = layout_of(flat);
  Dim offset = dims.add(layout.offset, dims.mul(bounds[0], layout.strides[0]));
  return view.finish({{count}, {dims.mul(layout.strides[0], step)}, offset, layout.dtype});
}

// Rejects indices that are valid for a one-dimensional array but not for flat: new axes, and several indices.
Status check_flat_index(const Ref& index) {
  bool is_tuple = index->kind == AbstractKind::tuple;
  bool several = is_tuple && index->items.size() > 1;
  const Ref& only = is_tuple && index->items.size() == 1 ? index->items[0] : index;
  if (several || is_none(only)) return fail(Reason::unsupported_index, "flat indexed by a new axis or by several indices");
  return Unit{};
}

Result<Ref> part_of_flat(Capture& capture, const Ref& flat, const Ref& index) {
  Ref view = flat_view(capture, flat_array(flat));
  return has_step(index) ? stepped(capture, view, index) : array_getitem(capture, view, index);
}

bool is_one_number(Capture& capture, const Ref& value) {
  auto operand = as_operand(capture, value);
  return operand && operand->shape.empty();
}

}  // namespace

Result<Ref> flat_getitem(Capture& capture, const Ref& flat, const Ref& index) {
  capture.resolver().look_deep(index);
  ACCEL_TRY([[maybe_unused]] Unit good, check_flat_index(index));
  ACCEL_TRY(Ref part, part_of_flat(capture, flat, index));
  return part->kind == AbstractKind::array ? copied(capture, capture.memory().read(part), {}) : part;
}

// Numbers are broadcast; an array must have as many elements as there are positions, because repetition is not supported.
Status flat_setitem(Capture& capture, const Ref& flat, const Ref& index, const Ref& value) {
  capture.resolver().look_deep(index);
  capture.resolver().look(value);
  ACCEL_TRY([[maybe_unused]] Unit good, check_flat_index(index));
  if (index->kind == AbstractKind::tuple && index->items.empty()) return fail(Reason::unsupported_index, "flat[()] = values");
  bool number = is_one_number(capture, value);
  if (index->kind == AbstractKind::slice || is_object(index, Py_Ellipsis)) {
    ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(flat_array(flat)));
    Ref part = flat_view(capture, flat_array(flat));
    if (index->kind == AbstractKind::slice) {
      ACCEL_TRY(part, part_of_flat(capture, flat, index));
    }
    if (number) return assign(capture, part, number_of(capture, value), "unsafe");
    ACCEL_TRY(Operand source, read_source(capture, value, layout_of(part).dtype, "unsafe"));
    if (source.is_array() && is_flat_overlap(part, source.ref))
      return fail(Reason::unsupported_layout, "flat copies element by element");
    if (!capture.facts().decide_equal(element_count(capture, source.shape), layout_of(part).shape[0]))
      return fail(Reason::unsupported_argument,
                  "flat[...] = an array of another size; plain form: array[...] = numpy.resize(values, array.shape)");
    return assign(capture, part, reshaped(capture, source.ref, layout_of(part).shape), "unsafe");
  }
  if (!number)
    return fail(
        Reason::unsupported_argument,
        "an array stored into such a part of flat; plain form: array.reshape(-1)[index] = values of a C-contiguous array");
  return store_item(capture, flat_view(capture, flat_array(flat)), index, number_of(capture, value));
}

namespace {

// Assigns one number or an array of the target's shape to the masked elements.
Status assign_masked(Capture& capture, const Ref& target, const Ref& mask, const Ref& values) {
  ACCEL_TRY(Operand where, read_operand(capture, mask));
  if (where.type.dtype != DType::bool_) return fail(Reason::unsupported_dtype, "a mask that is not bool");
  const std::vector<Dim>& shape = layout_of(target).shape;
  bool same = where.shape.size() == shape.size();
  for (size_t k = 0; same && k < shape.size(); ++k) same = capture.facts().decide_equal(where.shape[k], shape[k]);
  if (!same) return fail(Reason::unsupported_argument, "a mask of another shape; plain form: mask.reshape(array.shape)");
  return assign(capture, target, number_of(capture, values), "unsafe", mask);
}

bool is_array_of(Capture& capture, const Ref& value, const std::vector<Dim>& shape) {
  auto operand = as_operand(capture, value);
  if (!operand || !operand->is_array() || operand->shape.size() != shape.size()) return false;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!capture.facts().decide_equal(operand->shape[k], shape[k])) return false;
  }
  return true;
}

}  // namespace

// putmask(a, mask, values): values[n % values.size] for element n; arrays are cast safely.
Result<Ref> numpy_putmask(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"a", "mask", "values"}, 3}));
  capture.resolver().look(given[0]);
  if (given[0]->kind != AbstractKind::array) return fail(Reason::unsupported_value, "putmask of no array");
  DType dtype = layout_of(given[0]).dtype;
  auto values = as_operand(capture, given[2]);
  bool fits = values && (values->shape.empty() || is_array_of(capture, given[2], layout_of(given[0]).shape));
  if (!fits)
    return fail(Reason::unsupported_argument,
                "putmask with repeated values; plain form: numpy.copyto(array, numpy.resize(values, array.shape), where=mask)");
  if (!can_cast(values->type.dtype, dtype, "safe")) {
    bool python = values->type.kind == OperandType::Kind::py_int || values->type.kind == OperandType::Kind::py_float;
    if (!python) return fail(Reason::unsupported_dtype, "putmask with values of another dtype");
  }
  ACCEL_TRY([[maybe_unused]] Unit done, assign_masked(capture, given[0], given[1], given[2]));
  return capture.values().constant(Py_None);
}

// _place(arr, mask, vals): sets the masked elements to vals, one after the other.
Result<Ref> numpy_place(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"arr", "mask", "vals"}, 3}));
  capture.resolver().look(given[0]);
  if (given[0]->kind != AbstractKind::array) return fail(Reason::will_raise, "place into no array");
  if (!is_one_number(capture, given[2]))
    return fail(
        Reason::unsupported_argument,
        "place with several values; plain form: array[mask] = values, with as many values as the mask has true elements");
  auto number = as_operand(capture, given[2]);
  if (number->is_array() && !can_cast(number->type.dtype, layout_of(given[0]).dtype, "safe"))
    return fail(Reason::will_raise, "place casts arrays safely");
  ACCEL_TRY([[maybe_unused]] Unit done, assign_masked(capture, given[0], given[1], given[2]));
  return capture.values().constant(Py_None);
}

// array.put(indices, values, mode='raise')
Result<Ref> numpy_array_put(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"self", "indices", "values", "mode"}, 3}));
  if (given[0]->kind != AbstractKind::array) return fail(Reason::unsupported_value, "put of a NumPy scalar");
  ACCEL_TRY(std::string mode, read_text(capture, given[3]));
  if (!mode.empty() && mode != "raise")
    return fail(Reason::unsupported_argument, "mode of put; plain form: mode='raise' with indices % array.size for 'wrap'");
  capture.resolver().look_deep(given[1]);
  auto values = as_operand(capture, given[2]);
  if (!values)
    return fail(Reason::unsupported_argument,
                "put of such values; plain form: array.reshape(-1)[indices] = values of a C-contiguous array");
  auto indices = as_operand(capture, given[1]);
  bool fits = values->shape.empty() || (indices && values->shape.size() == 1 && is_array_of(capture, given[1], values->shape));
  if (!fits)
    return fail(Reason::unsupported_argument,
                "put with repeated values; plain form: array.reshape(-1)[indices] = values of a C-contiguous array, with as "
                "many values as indices");
  if (indices && dtype_kind(indices->type.dtype) == 'b') return fail(Reason::unsupported_index, "put at a mask");
  Ref flat = flat_view(capture, given[0]);
  ACCEL_TRY([[maybe_unused]] Unit done, store_item(capture, flat, given[1], number_of(capture, given[2])));
  return capture.values().constant(Py_None);
}

}  // namespace accel
