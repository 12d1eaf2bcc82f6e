// Decisions of PathFacts, which guards or checks in compiled code make true.

#include "capture/context/context.h"
#include "ndarray/array.h"

namespace accel {

bool PathFacts::decide_far(Dim left, Comparison comparison, Dim right) {
  if (auto implied = capture_.ranges().implied_by_ranges(left, comparison, right)) return *implied;
  bool result = compare(capture_.ranges().hint(left), comparison, capture_.ranges().hint(right));
  Relation relation{left, right, result ? comparison : row_of(comparison).inverse};
  if (is_runtime(left) || is_runtime(right)) {
    require_relation(relation);
  } else {
    capture_.ranges().guard_relation(left, relation.comparison, right);
  }
  return result;
}

bool PathFacts::decide(Dim left, Comparison comparison, Dim right) {
  if (capture_.ranges().is_far_apart(left, right)) return decide_far(left, comparison, right);
  Dim difference = capture_.dims().sub(left, right);
  if (auto value = capture_.dims().as_constant(difference)) return (row_of(comparison).signs & sign_of(*value)) != 0;
  if (is_runtime(difference)) return decide_runtime(left, comparison, right);
  uint8_t possible = capture_.ranges().signs_of(difference);
  uint8_t wanted = row_of(comparison).signs;
  if ((possible & wanted) == possible) return true;
  if ((possible & wanted) == 0) return false;
  // A relation implied by a branch of this path needs no guard.
  if (auto implied = implied_by_facts(left, comparison, right)) return *implied;
  bool result = compare(capture_.ranges().hint(left), comparison, capture_.ranges().hint(right));
  // With the other signs ruled out, a weaker-looking comparison says the same and is as cheap to check.
  capture_.ranges().guard_relation(left, result ? comparison : row_of(comparison).inverse, right);
  uint8_t now = possible & (result ? wanted : static_cast<uint8_t>(~wanted));
  capture_.ranges().note_signs(left, right, now);
  if (now == sign_zero) capture_.ranges().substitute_if_possible(left, right);
  return result;
}

// A relation that cannot be proved is assumed to be as in the captured call; compiled code checks it and exits if it differs.
bool PathFacts::decide_runtime(Dim left, Comparison comparison, Dim right) {
  if (auto known = known_relation(left, comparison, right)) return *known;
  bool likely = compare(capture_.ranges().hint(left), comparison, capture_.ranges().hint(right));
  if (assumptions_ != nullptr && assumptions_->both_) {
    assumptions_->open_ = true;
    return likely;
  }
  Reason reason = assumptions_ != nullptr ? assumptions_->reason_ : Reason::assumption_failed;
  require_relation({left, right, likely ? comparison : row_of(comparison).inverse}, reason);
  return likely;
}

void PathFacts::require_relation(const Relation& relation, Reason reason) {
  Status required = capture_.require(compare_at_run_time(relation, ValueKind::py_scalar), reason,
                                     "a relation of sizes: " + capture_.ranges().relation_text(relation));
  if (!required.ok()) throw InstructionBailout{required.failure()};
  assume(relation);
}

Dim PathFacts::from_start(Dim at, Dim length, bool may_assume) {
  Dim zero = capture_.dims().constant(0), wrapped = capture_.dims().add(at, length);
  if (!is_runtime(at)) return decide(at, Comparison::lt, zero) ? wrapped : at;
  if (auto negative = known_relation(at, Comparison::lt, zero)) return *negative ? wrapped : at;
  if (may_assume && !capture_.speculation().given.learned.contains(Reason::index_sign)) {
    bool negative = capture_.ranges().hint(at) < 0;
    require_relation({at, zero, negative ? Comparison::lt : Comparison::ge}, Reason::index_sign);
    return negative ? wrapped : at;
  }
  auto compute = [&](Op op, std::vector<ValueId> operands) {
    return capture_.build().pointwise(op, std::move(operands), {DType::int64}, ValueKind::py_scalar);
  };
  ValueId given = capture_.build().dim(at), is_negative = compare_at_run_time({at, zero, Comparison::lt}, ValueKind::py_scalar);
  // The minimum ensures that the sum fits int64 even where it is not selected.
  ValueId negative = compute(Op::minimum, {given, capture_.build().dim(capture_.dims().constant(-1))});
  ValueId sum = compute(Op::add, {negative, capture_.build().dim(length)});
  int64_t likely = capture_.ranges().hint(capture_.ranges().hint(at) < 0 ? wrapped : at);
  return bind_dim(compute(Op::where, {is_negative, sum, given}), "index", likely, -9.3e18, 9.3e18);
}

bool PathFacts::assume_fits(Dim d) {
  if (capture_.ranges().fits(d)) return true;
  Dim above = capture_.dims().constant(ValueRanges::runtime_limit),
      below = capture_.dims().constant(-ValueRanges::runtime_limit);
  for (int symbol : capture_.dims().symbols(d)) {
    if (!is_bound(symbol) || is_within_limit(symbol)) continue;
    require_relation({capture_.dims().symbol(symbol), above, Comparison::le});
    require_relation({capture_.dims().symbol(symbol), below, Comparison::ge});
  }
  return capture_.ranges().fits(d);
}

bool PathFacts::assume_equal(Dim left, Dim right) {
  if (is_known_equal(left, right)) return true;
  if (auto known = known_relation(left, Comparison::eq, right)) return *known;
  require_relation({left, right, Comparison::eq});
  return true;
}

bool PathFacts::expect(Dim left, Comparison comparison, Dim right) {
  if (!is_runtime(left) && !is_runtime(right)) return decide(left, comparison, right);
  if (comparison == Comparison::eq) return assume_equal(left, right);
  if (auto known = known_relation(left, comparison, right)) return *known;
  require_relation({left, right, comparison});
  return true;
}

Ref PathFacts::compare_dims(Dim left, Comparison comparison, Dim right, ValueKind kind) {
  auto constant_bool = [&](bool value) {
    if (kind == ValueKind::py_scalar) return capture_.values().constant(value ? Py_True : Py_False);
    return capture_.values().constant(PyRef::steal(new_numpy_scalar(DType::bool_, &value)).get());
  };
  if (capture_.ranges().is_far_apart(left, right)) {
    if (auto implied = capture_.ranges().implied_by_ranges(left, comparison, right)) return constant_bool(*implied);
  }
  Dim difference = capture_.dims().sub(left, right);
  if (capture_.dims().as_constant(difference)) return constant_bool(decide(left, comparison, right));
  if (is_runtime(difference)) {
    // A comparison in the code should not add guards on arguments.
    if (auto implied = implied_by_facts(left, comparison, right)) return constant_bool(*implied);
  }
  if (!capture_.may_fork(difference)) return constant_bool(decide(left, comparison, right));
  Relation relation{left, right, comparison};
  Ref result = capture_.values().scalar(compare_at_run_time(relation, kind));
  result->scalar.relation = relation;
  return result;
}

}  // namespace accel
