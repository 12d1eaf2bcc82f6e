// array[index] = value, where the store replaces the whole array, a part that basic indexing cuts out, or the elements under a
// mask. Other stores are left to NumPy.

#include <algorithm>

#include "capture/semantics.h"
#include "ndarray/array.h"

namespace accel {

namespace {

bool is_constant_object(const Ref& value, PyObject* object) {
  return value->kind == AbstractKind::constant && value->object.get() == object;
}

// ":" of an axis.
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

// A boolean array with the axes of the array that it selects from.
bool is_mask(Capture& capture, const Ref& index, const std::vector<Dim>& shape) {
  if (index->kind != AbstractKind::array || index->array.lens.dtype != DType::bool_) return false;
  const std::vector<Dim>& own = index->array.lens.shape;
  if (own.size() != shape.size() || own.empty()) return false;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (!capture.decide_equal(own[k], shape[k])) return false;
  }
  return true;
}

// A value with one element, whatever the number of places it goes to.
bool is_single(Capture& capture, const Ref& value) {
  PyTypeObject* type = capture.type_of(value);
  if (value->kind == AbstractKind::array) return value->array.lens.shape.empty();
  bool numpy = value->kind == AbstractKind::constant && is_numpy_scalar(value->object.get());
  return value->kind == AbstractKind::scalar || numpy || type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
}

// The part as an array, of rank 0 where integers take every axis.
Result<Ref> part_of(Capture& capture, const Ref& array, const Ref& index) {
  std::vector<Ref> items = {index};
  if (index->kind == AbstractKind::tuple) items = index->items;
  bool dotted = std::any_of(items.begin(), items.end(), [](const Ref& item) { return is_constant_object(item, Py_Ellipsis); });
  if (!dotted) items.push_back(capture.constant(Py_Ellipsis));
  return array_getitem(capture, array, capture.tuple(std::move(items)));
}

}  // namespace

Status store_item(Capture& capture, const Ref& array, const Ref& index, const Ref& value) {
  const ArrayState& state = array->array;
  if (state.storage->source >= 0) return fail(Reason::store_to_argument, capture.sources().text(state.storage->source));
  capture.look_deep(index);
  capture.look_deep(value);
  CallArguments arguments;
  arguments.positional = {array, value, capture.constant(PyRef::steal(PyUnicode_FromString("unsafe")).get())};
  if (!is_everything(index, state.lens.shape.size())) {
    if (is_mask(capture, index, state.lens.shape)) {
      if (!is_single(capture, value)) return fail(Reason::unsupported_index, "a store of an array under a mask");
      arguments.positional.push_back(index);
    } else {
      ACCEL_TRY(arguments.positional[0], part_of(capture, array, index));
    }
  }
  PyRef numpy = PyRef::steal(PyImport_ImportModule("numpy"));
  PyRef copyto = PyRef::steal(numpy ? PyObject_GetAttrString(numpy.get(), "copyto") : nullptr);
  if (!copyto) {
    PyErr_Clear();
    return fail(Reason::internal_error, "numpy.copyto");
  }
  ACCEL_TRY([[maybe_unused]] Ref none, capture.call(capture.constant(copyto.get()), arguments));
  return Unit{};
}

}  // namespace accel
