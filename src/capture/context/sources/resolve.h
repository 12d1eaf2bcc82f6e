#pragma once
// Resolves what an object at a source is: adds its guard and finds its abstract kind.

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

  // The value at a source that holds `seen` (borrowed); lazy until look(). A source has one Ref.
  Ref at(SourceId source, PyObject* seen);
  // Resolves a lazy value to its kind, with a guard. Arguments of primitives and items of containers have been resolved when
  // they are used.
  void look(const Ref& value);
  // look() at a value and at everything it contains.
  void look_deep(const Ref& value);
  // Makes the next attempt resolve a source from the start. False if this attempt did so.
  bool plan_early_look(SourceId source);
  std::vector<Ref> seen_early();
  // Makes the next attempt treat the object at a source as mutated from the start, by setting the attribute `name` (null: an
  // item), and throws Restart. Returns if the log had that.
  void plan_change(SourceId owner, PyObject* name);
  // The reason why an object is known by its type alone (array_subclass, unsupported_dtype, ...).
  Failure refusal(const Ref& object);
  // The values found at sources so far.
  const std::unordered_map<SourceId, Ref>& seen() const { return at_; }
  // Forgets graph values computed for arrays and numbers of the caller, because their nodes may be on another path. The values
  // in `restored` are skipped: they get the contents of the path that continues.
  void forget_caches(const std::vector<Ref>& restored);
  // Arrays, scalars and mutated objects of the caller, ordered by source.
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
