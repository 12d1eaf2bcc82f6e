#include "capture/protocol/conditions.h"

#include "capture/protocol/operations.h"
#include "capture/python/containers/dynamic_lists.h"

namespace accel {

namespace {

// The only element of an array as a bool.
Result<ValueId> single_element(Capture& capture, const Ref& array) {
  DimTable& dims = capture.dims();
  Dim one = dims.constant(1);
  for (Dim extent : array->array.layout.shape) {
    if (!capture.facts().expect_equal(extent, one))
      return fail(Reason::will_raise, "the truth of an array with several elements");
  }
  ValueId value = capture.memory().read(array);
  if (array->array.layout.shape.empty()) return value;
  return capture.build().reshape(value, {});
}

Result<Condition> condition_of_number(Capture& capture, ValueId value, std::optional<Relation> relation) {
  if (PyRef known = capture.constants().known_value(value)) return known_condition(PyObject_IsTrue(known.get()) == 1);
  Builder& build = capture.build();
  const Type type = capture.graph().type(value);
  Condition condition;
  condition.value = value;
  if (relation) condition.relations = {*relation};
  if (type.dtype == DType::bool_) return condition;
  Literal zero = dtype_kind(type.dtype) == 'i' || dtype_kind(type.dtype) == 'u' ? Literal::of_int(type.dtype, 0)
                                                                                : Literal::of_double(type.dtype, 0.0);
  condition.value = build.pointwise(Op::not_equal, {value, build.constant(zero, type.kind)}, {DType::bool_}, type.kind);
  return condition;
}

}  // namespace

Condition known_condition(bool value) {
  Condition condition;
  condition.known = value;
  return condition;
}

Condition both(Capture& capture, const Condition& left, const Condition& right) {
  if (left.known) return *left.known ? right : left;
  if (right.known) return *right.known ? left : right;
  Condition condition;
  condition.value = capture.build().pointwise(Op::logical_and, {left.value, right.value}, {DType::bool_}, ValueKind::py_scalar);
  condition.relations = left.relations;
  condition.relations.insert(condition.relations.end(), right.relations.begin(), right.relations.end());
  return condition;
}

Condition either(Capture& capture, const Condition& left, const Condition& right) {
  if (left.known) return *left.known ? left : right;
  if (right.known) return *right.known ? right : left;
  Condition condition;
  condition.value = capture.build().pointwise(Op::logical_or, {left.value, right.value}, {DType::bool_}, ValueKind::py_scalar);
  return condition;
}

Condition condition_of(Capture& capture, const Relation& relation) {
  if (capture.dims().as_constant(capture.dims().sub(relation.left, relation.right))) {
    return known_condition(capture.facts().decide(relation.left, relation.comparison, relation.right));
  }
  Condition condition;
  condition.value = capture.facts().compare_at_run_time(relation, ValueKind::py_scalar);
  condition.relations = {relation};
  return condition;
}

Result<Condition> condition_of(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  if (value->kind == AbstractKind::array) {
    ACCEL_TRY(ValueId element, single_element(capture, value));
    return condition_of_number(capture, element, std::nullopt);
  }
  if (is_dynamic_list(value)) {
    return condition_of(capture, Relation{length_of(capture, value), capture.dims().constant(0), Comparison::gt});
  }
  if (value->kind == AbstractKind::scalar && value->scalar.dim && capture.may_fork(*value->scalar.dim)) {
    return condition_of(capture, Relation{*value->scalar.dim, capture.dims().constant(0), Comparison::ne});
  }
  if (value->kind == AbstractKind::scalar && !value->scalar.dim) {
    ACCEL_TRY(ValueId number, capture.values().scalar_value(value));
    return condition_of_number(capture, number, value->scalar.relation);
  }
  ACCEL_TRY(bool known, truth(capture, value));
  return known_condition(known);
}

Ref condition_value(Capture& capture, const Condition& condition, bool negate) {
  if (condition.known) return make_bool(capture, *condition.known != negate);
  const Type& type = capture.graph().type(condition.value);
  Builder& build = capture.build();
  ValueId truth = condition.value;
  if (negate) {
    truth = build.pointwise(Op::logical_not, {truth}, {DType::bool_}, ValueKind::py_scalar);
  } else if (type.kind != ValueKind::py_scalar) {
    truth = build.pointwise(Op::astype, {truth}, {DType::bool_}, ValueKind::py_scalar);
  }
  Ref result = capture.values().scalar(truth);
  if (condition.relations.size() == 1) {
    result->scalar.relation = negate ? PathFacts::inverse(condition.relations[0]) : condition.relations[0];
  }
  return result;
}

Result<Ref> truth_value(Capture& capture, const Ref& value, bool negate) {
  ACCEL_TRY(Condition condition, condition_of(capture, value));
  return condition_value(capture, condition, negate);
}

}  // namespace accel
