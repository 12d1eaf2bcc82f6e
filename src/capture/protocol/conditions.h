#pragma once
// Conditions: truth values of which some are known at run time only.

#include "capture/context/context.h"

namespace accel {

struct Condition {
  std::optional<bool> known;
  ValueId value = no_value;         // a bool of rank 0, when it is not known
  std::vector<Relation> relations;  // all hold when it is true
};

Condition known_condition(bool value);
Condition both(Capture& capture, const Condition& left, const Condition& right);
Condition either(Capture& capture, const Condition& left, const Condition& right);
// left `comparison` right; not known unless it is constant.
Condition condition_of(Capture& capture, const Relation& relation);
// The truth of a value, as `if` asks for it.
Result<Condition> condition_of(Capture& capture, const Ref& value);
// Equality as containers see it: identity or ==. Numbers that are computed at run time are compared there.
Result<Condition> equality_condition(Capture& capture, const Ref& left, const Ref& right);
// item in container.
Result<Condition> membership_condition(Capture& capture, const Ref& item, const Ref& container);
// The condition, or its opposite, as a constant, or a bool that compiled code computes.
Ref condition_value(Capture& capture, const Condition& condition, bool negate = false);
// bool(value), or `not value`, likewise.
Result<Ref> truth_value(Capture& capture, const Ref& value, bool negate = false);

}  // namespace accel
