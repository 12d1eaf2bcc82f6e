#pragma once
// Constructors of abstract values, and graph values of scalars.

#include <Python.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/domain/value.h"

namespace accel {

class Capture;

class ValueFactory {
 public:
  explicit ValueFactory(Capture& capture) : capture_(capture) {}

  // `object` is borrowed. An exact tuple or slice becomes a value of that kind, unless it is nested too deeply.
  Ref constant(PyObject* object);
  Ref python_int(int64_t value);
  // A constant if `d` is one.
  Ref dim_scalar(Dim d, ValueKind kind = ValueKind::py_scalar);
  // A scalar with the kind and dtype of the value's type.
  Ref scalar(ValueId value);
  Ref tuple(std::vector<Ref> items);
  Ref shape_tuple(const std::vector<Dim>& shape);
  Ref list(std::vector<Ref> items);
  Ref method(Ref callable, Ref self);
  // Requires that nothing else owns the set.
  Ref set(PyRef object);
  Ref instance(PyTypeObject* type);
  // An array that covers a new storage. Throws InstructionBailout for more axes than NumPy supports.
  Ref fresh_array(ValueId value);
  // The elements cast to `dtype`. Throws InstructionBailout where NumPy always warns: a cast that discards the imaginary part.
  ValueId astype(ValueId value, DType dtype);
  // The rank-0 graph value of a scalar or of a constant Python or NumPy number.
  Result<ValueId> scalar_value(const Ref& scalar);
  // The Python type of the object (borrowed); null for NULL.
  PyTypeObject* type_of(const Ref& value);
  // Throws InstructionBailout for more axes than NumPy supports.
  static void check_rank(size_t rank);

 private:
  Ref constant_within(PyObject* object, int levels, std::unordered_map<PyObject*, Ref>& made);

  Capture& capture_;
};

// numpy.ndarray; the Python type of a py_scalar of this dtype (borrowed).
PyTypeObject* array_type();
PyTypeObject* python_type_of(DType dtype);

}  // namespace accel
