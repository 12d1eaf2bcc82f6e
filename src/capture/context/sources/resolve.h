#pragma once
// Finds out what an object at a source is: its guard and its abstract kind.

#include <Python.h>

#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class Resolver {
 public:
  explicit Resolver(Capture& capture) : capture_(capture) {}

  // The value at a source that holds `seen` (borrowed); lazy until look(). One source has one Ref.
  Ref at(SourceId source, PyObject* seen);
  // Finds out the kind of a lazy value and guards on it. Arguments of primitives have been looked at, and so have items of
  // containers.
  void look(const Ref& value);
  // look() at a value and at all that it holds.
  void look_deep(const Ref& value);
  // The next attempt looks at a source from the start. False: this one has done so.
  bool plan_early_look(SourceId source);
  std::vector<Ref> seen_early();
  // The next attempt knows from the start that the code changes the object at a source, by setting this attribute (null: an
  // item): starts again. Returns when it was known.
  void plan_change(SourceId owner, PyObject* name);
  // Why an object has no abstract form beyond its type (array_subclass, unsupported_dtype, ...).
  Failure refusal(const Ref& object);
  // What has been met at sources, by source.
  const std::unordered_map<SourceId, Ref>& seen() const { return at_; }
  // Forgets the graph values computed for the caller's arrays and numbers, whose nodes may be on another path. Not those of the
  // values in `restored`, which get what they hold on the path that continues.
  void forget_caches(const std::vector<Ref>& restored);
  // Arrays, scalars and changed objects of the caller's, in the order of their sources.
  std::vector<Ref> mutable_sources() const;

 private:
  void plan_similar_changes(const AbstractValue& changed);
  void look_array(const Ref& value);
  void look_number(const Ref& value, PyTypeObject* type, DType dtype);
  void look_container(const Ref& value);
  void look_dict(const Ref& value);
  void meet_container(const Ref& value);
  bool look_constant(const Ref& value);
  void look_object(const Ref& value);

  Capture& capture_;
  std::unordered_map<SourceId, Ref> at_;
};

}  // namespace accel
