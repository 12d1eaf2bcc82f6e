#pragma once
// Conditions: truth values, some of which are known at run time only.

#include "capture/context/context.h"

namespace accel {

struct Condition {
  std::optional<bool> known;
  ValueId value = no_value;         // a bool of rank 0, when it is not known
  std::vector<Relation> relations;  // all of them hold when the condition is true
};

Condition known_condition(bool value);
Condition both(Capture& capture, const Condition& left, const Condition& right);
Condition either(Capture& capture, const Condition& left, const Condition& right);
// The truth of a relation; known only if it is constant.
Condition condition_of(Capture& capture, const Relation& relation);
// The truth of a value, as `if` evaluates it.
Result<Condition> condition_of(Capture& capture, const Ref& value);
// Equality as containers test it: identity or ==. Numbers known at run time only are compared in compiled code.
Result<Condition> equality_condition(Capture& capture, const Ref& left, const Ref& right);
// item in container.
Result<Condition> membership_condition(Capture& capture, const Ref& item, const Ref& container);
// The condition (or with `negate` its opposite) as a constant or a bool of compiled code.
Ref condition_value(Capture& capture, const Condition& condition, bool negate = false);
// bool(value), or with `negate` not value, as a constant or a bool of compiled code.
Result<Ref> truth_value(Capture& capture, const Ref& value, bool negate = false);

}  // namespace accel
