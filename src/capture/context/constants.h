#pragma once
// Values that a rule needs at capture: constants as they are, numbers of the call promoted to constants with a guard.

#include <Python.h>

#include <unordered_map>

#include "base/result.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class Constants {
 public:
  explicit Constants(Capture& capture) : capture_(capture) {}

  // An integer; Dims are fixed by a guard.
  Result<int64_t> require_int(const Ref& value);
  // The Python object of a value: constants; numbers are promoted with a guard; tuples, lists and slices of those. New
  // reference.
  Result<PyRef> require_constant(const Ref& value);
  bool is_constant(const Ref& value) const;
  // What NumPy computes for a value of the graph that depends on constants alone: a number, or an array of few elements; else
  // null.
  PyRef known_value(const Ref& scalar);
  PyRef known_value(ValueId value);
  // A scalar computed from nothing but numbers of the call: they become constants and capture starts again. Else returns.
  void promote_inputs_of(const Ref& scalar);
  // A number at a source is an input of the graph.
  void note_input(ValueId input, SourceId source) { scalar_inputs_[input] = source; }

 private:
  Status promote(const Ref& value);
  Result<PyRef> require_items(const Ref& value);
  static PyRef constant_number(ValueKind kind, int64_t value);

  Capture& capture_;
  std::unordered_map<ValueId, SourceId> scalar_inputs_;
};

}  // namespace accel
