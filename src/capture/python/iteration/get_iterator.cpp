// get_iterator(): ranges, containers, arrays and other iterable objects (kinds of iterators: iterators.cpp).

#include <cstdlib>

#include "capture/domain/recognised_types.h"
#include "capture/protocol/iterators.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/python/iteration/iterator_kinds.h"

namespace accel {

namespace {

Ref make_iterator(std::vector<Ref> items, Ref container) {
  Ref iterator = std::make_shared<AbstractValue>();
  iterator->kind = AbstractKind::iterator;
  iterator->items = std::move(items);
  iterator->iterated = std::move(container);
  return iterator;
}

// Guards the keys and their order of a dict of the caller.
void know_keys(Capture& capture, const Ref& dict) { capture.changes().guard_keys(dict); }

Result<std::vector<Ref>> items_of_iterable(Capture& capture, PyObject* object) {
  PyRef list = PyRef::steal(PySequence_List(object));
  if (!list) return capture.raised();
  std::vector<Ref> items;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i)
    items.push_back(capture.values().constant(PyList_GET_ITEM(list.get(), i)));
  return items;
}

// Whether iteration runs only C code of builtin types.
bool is_plainly_iterable(PyObject* object) {
  return is_plain_constant(object) || PyFrozenSet_CheckExact(object) || is_dtype(object) || PyFunction_Check(object) ||
         dtype_of_scalar(object).has_value();
}

Result<std::vector<Ref>> items_of_constant(Capture& capture, PyObject* object) {
  if (is_plainly_iterable(object)) return items_of_iterable(capture, object);
  return fail(Reason::unsupported_value, "iteration over this object");
}

}  // namespace

Result<Ref> constant_range(Capture& capture, PyObject* object) {
  std::vector<Ref> bounds;
  for (const char* name : {"start", "stop", "step"}) {
    PyRef bound = PyRef::steal(PyObject_GetAttrString(object, name));
    bounds.push_back(capture.values().constant(bound.get()));
  }
  return range_of(capture, std::move(bounds));
}

Result<Ref> range_of(Capture& capture, std::vector<Ref> bounds) {
  if (bounds.size() == 1) bounds.insert(bounds.begin(), capture.values().python_int(0));
  if (bounds.size() == 2) bounds.push_back(capture.values().python_int(1));
  DimTable& dims = capture.dims();
  for (Ref& bound : bounds) {
    ACCEL_TRY(Dim number, read_dim(capture, bound));
    bound = capture.values().dim_scalar(number);
  }
  Dim zero = dims.constant(0), step = integer(capture, bounds[2]);
  if (!capture.facts().is_runtime(step)) {
    ACCEL_TRY(int64_t known, capture.constants().require_int(bounds[2]));
    step = dims.constant(known);
    bounds[2] = capture.values().python_int(known);
  }
  bool nonzero = capture.facts().decide(step, Comparison::gt, zero) || capture.facts().decide(step, Comparison::lt, zero);
  if (!nonzero) return fail(Reason::will_raise, "range() arg 3 must not be zero");
  bool fits = capture.facts().assume_fits(dims.sub(integer(capture, bounds[1]), integer(capture, bounds[0]))) &&
              capture.facts().assume_fits(step) && std::abs(dims.as_constant(step).value_or(1)) <= 1 << 30;
  if (!fits) return fail(Reason::unsupported_argument, "a range of huge bounds");
  Ref range = std::make_shared<AbstractValue>();
  range->kind = AbstractKind::range;
  range->items = std::move(bounds);
  return range;
}

Result<Ref> reversed_range(Capture& capture, const Ref& range) {
  DimTable& dims = capture.dims();
  Dim start = integer(capture, range->items[0]), stop = integer(capture, range->items[1]);
  Dim one = dims.constant(1), back = dims.sub(dims.constant(0), integer(capture, range->items[2]));
  Dim step = integer(capture, range->items[2]);
  bool forward = is_forward(capture, step);
  Dim distance = distance_of(capture, start, stop, forward), stride = forward ? step : back;
  // The count of an empty range is at most 0, so the reversed range is empty as well.
  Dim count = stride == one ? distance : dims.floordiv(dims.sub(dims.add(distance, stride), one), stride);
  Dim last = dims.add(start, dims.mul(dims.sub(count, one), step));
  return range_of(capture, {capture.values().dim_scalar(last), capture.values().dim_scalar(dims.sub(start, step)),
                            capture.values().dim_scalar(back)});
}

Ref reversed_container(Capture& capture, const Ref& container) {
  Ref iterator =
      make_lazy_iterator(reversed_class(), {capture.values().python_int(static_cast<int64_t>(container->items.size()))});
  iterator->iterated = container;
  return iterator;
}

Ref make_lazy_iterator(PyObject* callable, std::vector<Ref> items) {
  Ref iterator = make_iterator(std::move(items), nullptr);
  iterator->object = PyRef::borrow(callable);
  return iterator;
}

Result<Ref> get_iterator(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, value));
  switch (value->kind) {
    case AbstractKind::iterator:
    case AbstractKind::generator:
      return value;
    case AbstractKind::set: {
      ACCEL_TRY(PyRef object, capture.constants().require_constant(value));
      if (!has_certain_order(object.get())) return fail(Reason::unsupported_value, "the order of a set");
      ACCEL_TRY(std::vector<Ref> items, items_of_iterable(capture, object.get()));
      return make_iterator(std::move(items), nullptr);
    }
    case AbstractKind::tuple:
      return make_iterator(value->items, value);
    case AbstractKind::list:
      return make_iterator({}, value);
    case AbstractKind::dynamic_list:
      return make_lazy_iterator(list_class(), {value, capture.values().python_int(0)});
    case AbstractKind::dict:
      return get_iterator(capture, view_of_dict(value, 0));
    case AbstractKind::dict_view: {
      know_keys(capture, value->items[0]);
      Ref iterator = make_iterator({}, value);
      iterator->keys = value->items[0]->keys;
      return iterator;
    }
    case AbstractKind::range: {
      std::vector<Ref> items = value->items;
      items.push_back(capture.values().python_int(0));
      return make_lazy_iterator(range_class(), std::move(items));
    }
    case AbstractKind::constant: {
      if (PyRange_Check(value->object.get())) {
        ACCEL_TRY(Ref range, constant_range(capture, value->object.get()));
        return get_iterator(capture, range);
      }
      ACCEL_TRY(std::vector<Ref> items, items_of_constant(capture, value->object.get()));
      return make_iterator(std::move(items), value);
    }
    case AbstractKind::array:
      if (value->array.layout.shape.empty()) return fail(Reason::will_raise, "iteration over a 0-d array");
      return make_lazy_iterator(array_class(), {value, capture.values().python_int(0)});
    case AbstractKind::object:
      return capture.resolver().refusal(value);
    case AbstractKind::instance: {
      ACCEL_TRY(std::optional<std::vector<Ref>> items, items_of_object(capture, value));
      if (!items) return fail(Reason::unsupported_value, "iteration over this object");
      return make_iterator(std::move(*items), nullptr);
    }
    case AbstractKind::scalar:
    case AbstractKind::function:
    case AbstractKind::slice:
      return capture.raised(PyExc_TypeError, "the object is not iterable");
    default:
      return fail(Reason::unsupported_value, "iteration over this object");
  }
}

}  // namespace accel
