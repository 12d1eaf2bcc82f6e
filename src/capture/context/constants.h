#pragma once
// Values that must be known at capture: constants, and numbers of the call, which a guard fixes to their current value.

#include <Python.h>

#include <unordered_map>

#include "base/result.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class Constants {
 public:
  explicit Constants(Capture& capture) : capture_(capture) {}

  // The value of an integer; a Dim is fixed to its current value by a guard.
  Result<int64_t> require_int(const Ref& value);
  // The Python object of a constant, of a number of the call (fixed by a guard), or of a tuple, list or slice of such. New
  // reference.
  Result<PyRef> require_constant(const Ref& value);
  bool is_constant(const Ref& value) const;
  // The value, computed by NumPy, of a number or small array that depends on constants alone; null for all others.
  PyRef known_value(const Ref& scalar);
  PyRef known_value(ValueId value);
  // If a scalar is computed from numbers of the call alone, makes these constants of the next attempt and throws Restart;
  // otherwise returns.
  void promote_inputs_of(const Ref& scalar);
  // Records that the graph input is the number at `source`.
  void note_input(ValueId input, SourceId source) { scalar_inputs_[input] = source; }

 private:
  Status promote(const Ref& value);
  Result<PyRef> require_items(const Ref& value);
  static PyRef constant_number(ValueKind kind, int64_t value);

  Capture& capture_;
  std::unordered_map<ValueId, SourceId> scalar_inputs_;
};

}  // namespace accel
