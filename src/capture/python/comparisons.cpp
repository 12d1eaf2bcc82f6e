// Comparisons, identity, truth and membership.

#include <algorithm>
#include <numeric>

#include "capture/context/descent.h"
#include "capture/context/sources/class_guards.h"
#include "capture/context/sources/function_objects.h"
#include "capture/domain/compiled_functions.h"
#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/conditions.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/primitive.h"
#include "capture/protocol/ufunc_calls.h"
#include "capture/python/containers/dynamic_lists.h"
#include "ndarray/array.h"
#include "ndarray/loops.h"

namespace accel {

namespace {

Comparison comparison_of(int op) {
  static const Comparison table[] = {Comparison::lt, Comparison::le, Comparison::eq,
                                     Comparison::ne, Comparison::gt, Comparison::ge};
  return table[op];
}

// Whether == runs no user code: objects that compare by identity, and dtypes.
bool compares_safely(PyObject* object) {
  return is_plain_constant(object) || is_dtype(object) || is_python_function(object) || PyCFunction_Check(object) ||
         PyModule_CheckExact(object) || is_ufunc(object) || Py_TYPE(object)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

Result<bool> check(int result) {
  if (result >= 0) return result != 0;
  PyErr_Clear();
  return fail(Reason::will_raise, "Python raises here");
}

// Whether the type defines neither truth nor length, so that its objects are true.
bool is_always_true(Capture& capture, PyTypeObject* type) {
  bool asks = type->tp_as_number != nullptr && type->tp_as_number->nb_bool != nullptr;
  bool maps = type->tp_as_mapping != nullptr && type->tp_as_mapping->mp_length != nullptr;
  bool sequences = type->tp_as_sequence != nullptr && type->tp_as_sequence->sq_length != nullptr;
  guard_class_entries(capture, type, {"__bool__", "__len__"});
  return !asks && !maps && !sequences;
}

// Constants that are identical to a value of another kind only if they are the same object.
bool is_singleton_like(PyObject* object) {
  return object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented || PyBool_Check(object) ||
         PyType_Check(object) || PyModule_Check(object) || is_python_function(object) || PyCFunction_Check(object) ||
         is_dtype(object) || is_ufunc(object);
}

// Ordering of sequences: the result of comparing the first two items that differ, or if there are none, the lengths.
Result<Ref> order_sequences(Capture& capture, int op, const Ref& left, const Ref& right, bool only_truth) {
  if (left->kind != right->kind) return fail(Reason::will_raise, "an ordering of a list and a tuple");
  const size_t count = std::min(left->items.size(), right->items.size());
  ACCEL_TRY(Ref lengths, compare(capture, op, capture.values().python_int(static_cast<int64_t>(left->items.size())),
                                 capture.values().python_int(static_cast<int64_t>(right->items.size()))));
  ACCEL_TRY(Condition ordered, condition_of(capture, lengths));
  for (size_t i = count; i-- > 0;) {
    ACCEL_TRY(Condition equal, equality_condition(capture, left->items[i], right->items[i]));
    ACCEL_TRY(Ref item, compare(capture, op, left->items[i], right->items[i]));
    if (!only_truth && capture.values().type_of(item) != &PyBool_Type)
      return fail(Reason::unsupported_value, "an ordering of sequences of NumPy scalars");
    ACCEL_TRY(Condition item_ordered, condition_of(capture, item));
    ACCEL_TRY(Condition differ, condition_of(capture, condition_value(capture, equal, true)));
    ordered = either(capture, both(capture, equal, ordered), both(capture, differ, item_ordered));
  }
  return condition_value(capture, ordered);
}

Result<Ref> compare_sequences(Capture& capture, int op, const Ref& left, const Ref& right, bool only_truth) {
  const Descent level;
  if (op != Py_EQ && op != Py_NE) return order_sequences(capture, op, left, right, only_truth);
  bool same_length = left->items.size() == right->items.size();
  Condition equal = known_condition(left->kind == right->kind && (same_length || left->kind == AbstractKind::tuple));
  for (size_t i = 0; equal.known.value_or(true) && i < std::min(left->items.size(), right->items.size()); ++i) {
    ACCEL_TRY(Condition item, equality_condition(capture, left->items[i], right->items[i]));
    equal = both(capture, equal, item);
  }
  return condition_value(capture, both(capture, equal, known_condition(same_length)), op == Py_NE);
}

// Whether a number is computed at run time.
bool is_computed(Capture& capture, const Ref& value) {
  if (value->kind != AbstractKind::scalar || value->source >= 0) return false;
  if (value->scalar.dim) return capture.facts().is_runtime(*value->scalar.dim);
  return !capture.constants().known_value(value);
}

// Whether two references may be to the same number object: false if the captured code has made one of them.
bool may_be_same(const Ref& left, const Ref& right) {
  auto made = [](const Ref& value) {
    return value->kind == AbstractKind::scalar && value->source < 0 && !value->is_one_of_several;
  };
  return left == right || (!made(left) && !made(right));
}

bool is_constant_nan(const Ref& value) {
  if (value->kind != AbstractKind::constant || !number_type(*value)) return false;
  PyRef differs = PyRef::steal(PyObject_RichCompare(value->object.get(), value->object.get(), Py_NE));
  return differs && PyObject_IsTrue(differs.get()) == 1;
}

// Whether a value is a NaN.
Result<Condition> nan_condition(Capture& capture, const Ref& value) {
  std::optional<Type> type = number_type(*value);
  if (!type || (dtype_kind(type->dtype) != 'f' && dtype_kind(type->dtype) != 'c')) return known_condition(false);
  ACCEL_TRY(ValueId number, capture.values().scalar_value(value));
  return condition_of(
      capture, capture.values().scalar(capture.build().pointwise(Op::isnan, {number}, {DType::bool_}, ValueKind::py_scalar)));
}

// A container treats a NaN as equal to itself by identity only. Compiled code does not know NaNs' identities, so it exits where
// both are NaN.
Status leave_where_one_nan(Capture& capture, const Ref& left, const Ref& right) {
  capture.resolver().look(left);
  capture.resolver().look(right);
  if (left == right || !may_be_same(left, right)) return Unit{};
  ACCEL_TRY(Condition l, nan_condition(capture, left));
  if (l.known && !*l.known) return Unit{};
  ACCEL_TRY(Condition r, nan_condition(capture, right));
  const Condition nans = both(capture, l, r);
  if (nans.known) return *nans.known ? Status(fail(Reason::unsupported_value, "identity of a NaN")) : Status(Unit{});
  ValueId differ = capture.build().pointwise(Op::logical_not, {nans.value}, {DType::bool_}, ValueKind::py_scalar);
  return capture.require(differ, Reason::assumption_failed, "identity of a NaN");
}

// The items of a sequence or set that may contain a number; nullopt: another container.
Result<std::optional<std::vector<Ref>>> candidates_of(Capture& capture, const Ref& container) {
  if (is_sequence(container)) return std::optional(container->items);
  if (container->kind == AbstractKind::set && !container->object) return std::optional(container->items);
  PyObject* object = container->object.get();
  bool constant = container->kind == AbstractKind::constant || container->kind == AbstractKind::set;
  bool plain = constant && (PyTuple_CheckExact(object) || PyFrozenSet_CheckExact(object) || PySet_CheckExact(object));
  if (!plain) return std::optional<std::vector<Ref>>();
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, container));
  return std::optional(std::move(items));
}

// item in array: whether an element is equal.
Result<Condition> array_membership(Capture& capture, const Ref& item, const Ref& array) {
  ACCEL_TRY(Ref equal, compare(capture, Py_EQ, array, item));
  if (!is_arraylike(equal)) return fail(Reason::unsupported_value, "membership in this array");
  ReduceOptions options;
  options.axes.resize(layout_of(equal).shape.size());
  std::iota(options.axes.begin(), options.axes.end(), 0);
  ACCEL_TRY(Ref some, reduce_array(capture, ufunc_of(Op::logical_or), equal, options));
  return condition_of(capture, some);
}

Ref compare_dims(Capture& capture, int op, const Ref& left, const Ref& right, Dim l, Dim r) {
  bool python = capture.values().type_of(left) == &PyLong_Type && capture.values().type_of(right) == &PyLong_Type;
  return capture.facts().compare_dims(l, comparison_of(op), r, python ? ValueKind::py_scalar : ValueKind::numpy_scalar);
}

// Kinds whose == with a value of another type is identity, hence False.
bool has_simple_equality(const Ref& value) {
  switch (value->kind) {
    case AbstractKind::tuple:
    case AbstractKind::list:
    case AbstractKind::dict:
    case AbstractKind::slice:
    case AbstractKind::function:
    case AbstractKind::method:
    case AbstractKind::object:  // types that define a comparison are rejected before
      return true;
    case AbstractKind::scalar:
      return value->scalar.kind == ValueKind::py_scalar;
    case AbstractKind::constant:
      return compares_safely(value->object.get()) && !is_dtype(value->object.get());
    default:
      return false;
  }
}

// Whether both compare by identity, and the identity of at least one is not constant.
bool are_compared_by_identity(const Ref& left, const Ref& right) {
  auto by_identity = [](const Ref& value) {
    bool known = value->kind == AbstractKind::object || value->kind == AbstractKind::constant;
    return known && Py_TYPE(value->object.get())->tp_richcompare == PyBaseObject_Type.tp_richcompare;
  };
  return by_identity(left) && by_identity(right);
}

bool is_number(Capture& capture, const Ref& value) {
  PyTypeObject* type = capture.values().type_of(value);
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type || type == &PyBool_Type;
}

}  // namespace

Result<Ref> compare(Capture& capture, int op, const Ref& left, const Ref& right, bool only_truth) {
  capture.resolver().look(left);
  capture.resolver().look(right);
  for (const Ref& operand : {left, right}) {
    if (operand->kind == AbstractKind::opaque)
      return fail(Reason::unsupported_value, "a comparison of an object that a call has given");
    bool defines = operand->kind == AbstractKind::object && !compares_safely(operand->object.get());
    if (defines && !is_known_by_parts(capture, operand)) return capture.resolver().refusal(operand);
    bool compares = operand->kind == AbstractKind::instance &&
                    capture.values().type_of(operand)->tp_richcompare != PyBaseObject_Type.tp_richcompare;
    if (compares) return fail(Reason::unsupported_value, "a comparison that a class defines");
    bool known = operand->kind == AbstractKind::instance || operand->kind == AbstractKind::constant ||
                 operand->kind == AbstractKind::object;
    if (known)
      guard_class_entries(capture, capture.values().type_of(operand),
                          {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"});
  }
  if (is_known_set(left) && is_known_set(right))
    return folded(capture, PyObject_RichCompare(left->object.get(), right->object.get(), op));
  if (capture.constants().is_constant(left) && capture.constants().is_constant(right)) {
    ACCEL_TRY(PyRef l, capture.constants().require_constant(left));
    ACCEL_TRY(PyRef r, capture.constants().require_constant(right));
    if (compares_safely(l.get()) && compares_safely(r.get()))
      return folded(capture, PyObject_RichCompare(l.get(), r.get(), op));
  }
  if (is_sequence(left) && is_sequence(right)) return compare_sequences(capture, op, left, right, only_truth);
  auto l = known_dim(capture, left), r = known_dim(capture, right);
  if (l && r) return compare_dims(capture, op, left, right, *l, *r);
  bool both_numbers = is_number(capture, left) && is_number(capture, right);
  if ((op == Py_EQ || op == Py_NE) && !both_numbers && has_simple_equality(left) && has_simple_equality(right) &&
      capture.values().type_of(left) != capture.values().type_of(right)) {
    return make_bool(capture, op == Py_NE);
  }
  if (numpy_decides(left, right)) return array_compare(capture, op, left, right);
  if (op == Py_EQ || op == Py_NE) {
    ACCEL_TRY(bool same, is_same(capture, left, right));
    if (same || are_compared_by_identity(left, right)) return make_bool(capture, same == (op == Py_EQ));
  }
  return fail(Reason::unsupported_value, "a comparison of these objects");
}

Result<bool> is_same(Capture& capture, const Ref& left, const Ref& right) {
  capture.resolver().look(left);
  capture.resolver().look(right);
  if (left == right) return true;
  if (is_row(left) && is_row(right)) return fail(Reason::unsupported_value, "identity of lists in a list that grows");
  bool left_constant = left->kind == AbstractKind::constant, right_constant = right->kind == AbstractKind::constant;
  // A constant with items is a new object at each evaluation.
  if (left_constant && right_constant && !(left->items.empty() && right->items.empty())) return false;
  if (left_constant && right_constant) {
    PyObject *l = left->object.get(), *r = right->object.get();
    if (l == r) {
      for (const Ref& side : {left, right}) {
        if (side->source >= 0) capture.sources().guard_identity(side->source, l);  // equal constants may be two objects
      }
      return true;
    }
    if (Py_TYPE(l) != Py_TYPE(r) || is_singleton_like(l) || is_singleton_like(r)) return false;
    if (!is_plain_constant(l) && left->source >= 0 && right->source >= 0) return false;  // both guarded by identity
    return fail(Reason::unsupported_value, "identity of equal constants");
  }
  PyTypeObject *left_type = capture.values().type_of(left), *right_type = capture.values().type_of(right);
  if (left_type != nullptr && right_type != nullptr && left_type != right_type) return false;
  if (left->kind == AbstractKind::opaque || right->kind == AbstractKind::opaque)  // it may be any object of its type
    return fail(Reason::unsupported_value, "identity of an object that a call has given");
  bool unknown = left->is_one_of_several || right->is_one_of_several;
  if (unknown && left_type != &PyBool_Type) throw FunctionBailout{fail(Reason::unsupported_value, unknown_identity)};
  for (const auto& [side, other] : {std::pair{left, right}, std::pair{right, left}}) {
    bool may_share = side->kind == AbstractKind::object && side->source >= 0 && other->kind == AbstractKind::constant;
    if (!may_share) continue;
    PyObject *seen = side->object.get(), *known = other->object.get();
    if (seen == known) {
      capture.sources().guard_identity(side->source, seen);
      return true;
    }
    SourceId place = capture.sources().pinned(known, short_repr(known));
    capture.sources().guard_memory(GuardKind::same, side->source, place, false);
    return false;
  }
  for (const Ref& side : {left, right}) {
    const Ref& other = side == left ? right : left;
    if (side->kind == AbstractKind::constant && is_singleton_like(side->object.get()) && other->source < 0 &&
        other->kind != AbstractKind::scalar) {
      return false;
    }
  }
  bool small = left->kind == AbstractKind::scalar || right->kind == AbstractKind::scalar || left->kind == AbstractKind::tuple;
  bool made_here = left->source < 0 || right->source < 0;
  if (made_here && !small && !left_constant && !right_constant) return false;
  bool arrays = left->kind == AbstractKind::array && right->kind == AbstractKind::array;
  bool objects = left->kind == AbstractKind::object && right->kind == AbstractKind::object;
  if ((arrays || objects) && left->source >= 0 && right->source >= 0) {
    bool same = left->object.get() == right->object.get();
    capture.sources().guard_memory(GuardKind::same, left->source, right->source, same);
    return same;
  }
  return fail(Reason::unsupported_value, "identity of objects of the call");
}

Result<bool> is_equal(Capture& capture, const Ref& left, const Ref& right) {
  if (left == right) return true;
  const Descent level;
  if (left->kind == AbstractKind::constant && right->kind == AbstractKind::constant &&
      left->object.get() == right->object.get()) {
    return is_constant_nan(left) ? is_same(capture, left, right) : true;
  }
  ACCEL_TRY([[maybe_unused]] Unit apart, leave_where_one_nan(capture, left, right));
  ACCEL_TRY(Ref result, compare(capture, Py_EQ, left, right));
  return truth(capture, result);
}

bool is_arraylike(const Ref& value) {
  if (value->kind == AbstractKind::array || value->kind == AbstractKind::scalar || is_masked_selection(value)) return true;
  return value->kind == AbstractKind::constant && is_numpy_scalar(value->object.get());
}

bool numpy_decides(const Ref& left, const Ref& right) {
  if (!is_arraylike(left) && !is_arraylike(right)) return false;
  auto is_container = [](const Ref& value) { return is_sequence(value) || is_dynamic_list(value); };
  auto is_number = [](const Ref& value) {
    return value->kind == AbstractKind::scalar && value->scalar.kind == ValueKind::py_scalar;
  };
  return !(is_container(left) && is_number(right)) && !(is_container(right) && is_number(left));
}

Result<bool> truth(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  switch (value->kind) {
    case AbstractKind::constant: {
      PyObject* object = value->object.get();
      if (object == Py_NotImplemented) return fail(Reason::unsupported_value, "the truth of NotImplemented warns");
      if (is_plain_constant(object) || dtype_of_scalar(object)) return check(PyObject_IsTrue(object));
      if (is_always_true(capture, Py_TYPE(object))) return true;
      break;
    }
    case AbstractKind::tuple:
      return !value->items.empty();
    case AbstractKind::list:
      return !value->items.empty();
    case AbstractKind::dict:
      capture.changes().guard_length(value);
      return !value->items.empty();
    case AbstractKind::set:
      return value->object ? PySet_GET_SIZE(value->object.get()) > 0 : !value->items.empty();
    case AbstractKind::instance:
      if (is_always_true(capture, capture.values().type_of(value))) return true;
      break;
    case AbstractKind::function:
    case AbstractKind::method:
    case AbstractKind::slice:
    case AbstractKind::generator:
      return true;
    case AbstractKind::scalar: {
      if (value->scalar.dim) return capture.facts().decide(*value->scalar.dim, Comparison::ne, capture.dims().constant(0));
      if (value->source >= 0) {
        ACCEL_TRY(PyRef object, capture.constants().require_constant(value));
        return check(PyObject_IsTrue(object.get()));
      }
      if (PyRef known = capture.constants().known_value(value)) return check(PyObject_IsTrue(known.get()));
      capture.constants().promote_inputs_of(value);
      return fail(Reason::data_dependent_branch, "the condition is computed from array data");
    }
    case AbstractKind::array:
      return fail(Reason::data_dependent_branch, "the truth of an array");
    case AbstractKind::object:
      if (is_always_true(capture, capture.values().type_of(value))) return true;
      return capture.resolver().refusal(value);
    default:
      break;
  }
  return fail(Reason::unsupported_value, "the truth of this object");
}

Result<Condition> equality_condition(Capture& capture, const Ref& left, const Ref& right) {
  capture.resolver().look(left);
  capture.resolver().look(right);
  for (const auto& [number, other] : {std::pair{left, right}, std::pair{right, left}}) {
    bool text =
        other->kind == AbstractKind::constant && (other->object.get() == Py_None || PyUnicode_CheckExact(other->object.get()));
    if (number->kind == AbstractKind::scalar && text) return known_condition(false);
  }
  bool tuples = left->kind == AbstractKind::tuple && right->kind == AbstractKind::tuple;
  if (left != right && (tuples || is_computed(capture, left) || is_computed(capture, right))) {
    ACCEL_TRY([[maybe_unused]] Unit apart, leave_where_one_nan(capture, left, right));
    ACCEL_TRY(Ref result, compare(capture, Py_EQ, left, right));
    return condition_of(capture, result);
  }
  ACCEL_TRY(bool same, is_equal(capture, left, right));
  return known_condition(same);
}

Result<Condition> membership_condition(Capture& capture, const Ref& item, const Ref& container) {
  capture.resolver().look(item);
  capture.resolver().look(container);
  if (container->kind == AbstractKind::array) return array_membership(capture, item, container);
  bool computed = is_computed(capture, item) || (item->kind == AbstractKind::tuple && !item->object);
  bool computes = is_sequence(container) && std::any_of(container->items.begin(), container->items.end(),
                                                        [&](const Ref& candidate) { return is_computed(capture, candidate); });
  if (computed || computes) {
    ACCEL_TRY(auto candidates, candidates_of(capture, container));
    if (candidates) {
      Condition found = known_condition(false);
      for (size_t i = 0; i < candidates->size() && !found.known.value_or(false); ++i) {
        ACCEL_TRY(Condition equal, equality_condition(capture, (*candidates)[i], item));
        found = either(capture, found, equal);
      }
      return found;
    }
  }
  ACCEL_TRY(bool known, contains(capture, item, container));
  return known_condition(known);
}

Result<bool> contains(Capture& capture, const Ref& item, const Ref& container) {
  capture.resolver().look(item);
  capture.resolver().look(container);
  if (is_sequence(container)) {
    for (const Ref& candidate : container->items) {
      ACCEL_TRY(bool same, is_equal(capture, candidate, item));
      if (same) return true;
    }
    return false;
  }
  if (container->kind == AbstractKind::dict) {
    ACCEL_TRY(std::optional<size_t> found, find_key(capture, container, item));
    return found.has_value();
  }
  if (container->kind == AbstractKind::set && capture.constants().is_constant(item)) {
    ACCEL_TRY(PyRef set, capture.constants().require_constant(container));
    ACCEL_TRY(PyRef element, capture.constants().require_constant(item));
    if (is_plain_constant(element.get()) || is_dtype(element.get()) || PyType_Check(element.get()))
      return check(PySet_Contains(set.get(), element.get()));
  }
  if (container->kind == AbstractKind::generator) {
    while (true) {
      ACCEL_TRY(std::optional<Ref> candidate, next_item(capture, container));
      if (!candidate) return false;
      ACCEL_TRY(bool same, is_equal(capture, *candidate, item));
      if (same) return true;
    }
  }
  if (container->kind == AbstractKind::constant && item->kind == AbstractKind::constant) {
    PyObject *c = container->object.get(), *i = item->object.get();
    if (is_plain_constant(i) && (is_plain_constant(c) || PyFrozenSet_CheckExact(c))) return check(PySequence_Contains(c, i));
  }
  if (container->kind == AbstractKind::object) return capture.resolver().refusal(container);
  return fail(Reason::unsupported_value, "membership in this object");
}

}  // namespace accel
