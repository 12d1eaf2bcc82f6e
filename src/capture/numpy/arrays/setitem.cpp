// array[index] = value: stores to the whole array, to a part selected by basic indexing, or to the elements under a mask.

#include <algorithm>

#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/arrays/basic_index.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/numpy/arrays/flat.h"
#include "capture/numpy/arrays/views.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "ndarray/array.h"

namespace accel {

namespace {

bool is_text(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

bool is_constant_object(const Ref& value, PyObject* object) {
  return value->kind == AbstractKind::constant && value->object.get() == object;
}

// Whether it is the index ":".
bool is_full_slice(const Ref& index) {
  if (index->kind != AbstractKind::slice) return false;
  for (const Ref& part : index->items) {
    if (!is_constant_object(part, Py_None)) return false;
  }
  return true;
}

bool is_everything(const Ref& index, size_t rank) {
  if (is_constant_object(index, Py_Ellipsis)) return true;
  if (is_full_slice(index)) return rank > 0;
  if (index->kind != AbstractKind::tuple) return false;
  size_t axes = 0, ellipses = 0;
  for (const Ref& item : index->items) {
    if (is_full_slice(item)) {
      ++axes;
    } else if (is_constant_object(item, Py_Ellipsis)) {
      ++ellipses;
    } else {
      return false;
    }
  }
  return axes <= rank && ellipses <= 1;
}

// Whether a value is one element, which is broadcast to all positions.
bool is_single(Capture& capture, const Ref& value) {
  PyTypeObject* type = capture.values().type_of(value);
  if (value->kind == AbstractKind::array) return value->array.layout.shape.empty();
  bool numpy = value->kind == AbstractKind::constant && is_numpy_scalar(value->object.get());
  return value->kind == AbstractKind::scalar || numpy || type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
}

// Whether the index is a bool and the array 0-d: a mask of its one element.
bool is_mask_of_one(Capture& capture, const Ref& array, const Ref& index) {
  if (!array->array.layout.shape.empty()) return false;
  auto operand = as_operand(capture, index);
  return operand && operand->shape.empty() && operand->type.dtype == DType::bool_;
}

// Assigns a value to elements: numbers must be in the range of the dtype. Sequences may not be nested more deeply than the
// target has axes, unlike arrays, whose leading axes of extent 1 are dropped.
Status assign_element(Capture& capture, const Ref& target, const Ref& value) {
  auto number = as_operand(capture, value);
  bool sequence = !number && is_array_sequence(value);
  if (!sequence && (!number || number->is_array())) return assign(capture, target, value, "unsafe");
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(target));
  if (!sequence) {
    ACCEL_TRY([[maybe_unused]] Unit in_range, require_element_in_range(capture, *number, layout_of(target).dtype));
    return assign(capture, target, value, "unsafe");
  }
  ACCEL_TRY(Operand source, read_source(capture, value, layout_of(target).dtype, "unsafe"));
  if (source.shape.size() > layout_of(target).shape.size())
    return fail(Reason::will_raise, "setting an array element with a sequence");
  return assign(capture, target, source.ref, "unsafe");
}

bool has_ellipsis(const Ref& index) {
  if (index->kind != AbstractKind::tuple) return is_constant_object(index, Py_Ellipsis);
  return std::any_of(index->items.begin(), index->items.end(),
                     [](const Ref& item) { return is_constant_object(item, Py_Ellipsis); });
}

}  // namespace

Status store_item(Capture& capture, const Ref& array, const Ref& index, const Ref& value) {
  const ArrayState& state = array->array;
  capture.resolver().look_deep(index);
  capture.resolver().look_deep(value);
  if (is_everything(index, state.layout.shape.size())) {
    capture.resolver().look(value);
    if (state.layout.shape.empty() && !has_ellipsis(index) && !is_single(capture, value))
      return fail(Reason::unsupported_argument, "an array as an element");
    return assign_element(capture, array, value);
  }
  if (is_mask_of_one(capture, array, index) && is_single(capture, value)) return assign(capture, array, value, "unsafe", index);
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise_deep(capture, index));
  ACCEL_TRY(std::vector<IndexPart> parts, index_parts(capture, array, index));
  if (has_advanced(parts)) return advanced_setitem(capture, array, parts, value);
  ACCEL_TRY(Ref part, basic_view(capture, array, parts));
  capture.resolver().look(value);
  bool element = part->array.layout.shape.empty() && !has_ellipsis(index);
  if (element && !is_single(capture, value)) return fail(Reason::unsupported_argument, "an array as an element");
  return assign_element(capture, part, value);
}

namespace {

// array.flat = value, in C order.
Status assign_flat(Capture& capture, const Ref& array, const Ref& value) {
  auto source = as_operand(capture, value);
  if (!source || !source->is_array() || source->shape.empty()) {
    if (!is_single(capture, value)) return fail(Reason::unsupported_argument, "flat = such a value");
    return assign(capture, array, number_of(capture, value), "unsafe");
  }
  if (is_flat_overlap(array, source->ref)) return fail(Reason::unsupported_layout, "flat copies element by element");
  const std::vector<Dim> shape = layout_of(array).shape;
  bool same = capture.facts().decide_equal(element_count(capture, source->shape), element_count(capture, shape));
  if (!same) return fail(Reason::unsupported_argument, "flat = an array of another size");
  return assign(capture, array, reshaped(capture, value, shape), "unsafe");
}

// array.shape = value: reshapes the array object in place. From version 2.5 on NumPy warns about it.
Status assign_shape(Capture& capture, const Ref& array, const Ref& value) {
  if (array->source >= 0 || array->array.storage->held || numpy_minor() >= 5)
    return fail(Reason::unsupported_attribute, "the shape of an array is set");
  std::vector<Dim> shape;
  for (const Ref& item : value->kind == AbstractKind::tuple ? value->items : std::vector<Ref>{value}) {
    ACCEL_TRY(Dim extent, read_dim(capture, item));
    shape.push_back(extent);
  }
  ACCEL_TRY(shape, reshape_target(capture, array, std::move(shape)));
  Ref view = reshaped(capture, array, shape);
  if (view->array.storage != array->array.storage) return fail(Reason::will_raise, "this shape needs a copy");
  if (!array->array.path.empty()) {
    array->array = view->array;
    return Unit{};
  }
  // The array must own its memory and keep it.
  const std::vector<Ref> alive = capture.alive();
  auto looks_at_it = [&](const Ref& other) {
    return other != array && other->kind == AbstractKind::array && other->array.storage == array->array.storage;
  };
  if (std::any_of(alive.begin(), alive.end(), looks_at_it))
    return fail(Reason::unsupported_attribute, "the shape of an array with views is set");
  array->array = capture.values().fresh_array(capture.memory().read(view))->array;
  return Unit{};
}

}  // namespace

Status set_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value) {
  capture.resolver().look(owner);
  if (owner->kind == AbstractKind::instance) return set_made_attribute(capture, owner, name, value);
  bool is_object = owner->kind == AbstractKind::object || owner->kind == AbstractKind::constant;
  if (is_object && is_array(owner->object.get())) return capture.resolver().refusal(owner);
  if (is_object) return set_object_attribute(capture, owner, name, value);
  capture.resolver().look(value);
  if (owner->kind != AbstractKind::array) return fail(Reason::store_to_argument, "an attribute of an object");
  bool complex = dtype_kind(layout_of(owner).dtype) == 'c';
  if (is_text(name, "real")) return assign(capture, complex ? part_view(capture, owner, false) : owner, value, "unsafe");
  if (is_text(name, "imag") && complex) return assign(capture, part_view(capture, owner, true), value, "unsafe");
  if (is_text(name, "shape")) return assign_shape(capture, owner, value);
  if (is_text(name, "flat")) return assign_flat(capture, owner, value);
  return fail(Reason::unsupported_attribute, "an attribute of an array is set");
}

}  // namespace accel
