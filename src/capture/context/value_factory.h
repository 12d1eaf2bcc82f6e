#pragma once
// Constructors of abstract values, and scalars as graph values.

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

  // `object` is borrowed. An exact tuple or slice gives that kind, unless it is nested too deeply to be taken apart.
  Ref constant(PyObject* object);
  Ref python_int(int64_t value);
  // A constant when `d` is one.
  Ref dim_scalar(Dim d, ValueKind kind = ValueKind::py_scalar);
  // Kind and dtype are those of the value's type.
  Ref scalar(ValueId value);
  Ref tuple(std::vector<Ref> items);
  Ref shape_tuple(const std::vector<Dim>& shape);
  Ref list(std::vector<Ref> items);
  Ref method(Ref callable, Ref self);
  // Takes a set that has no other owner.
  Ref set(PyRef object);
  Ref instance(PyTypeObject* type);
  // The whole of a new storage. Throws InstructionBailout for more axes than NumPy's arrays may have.
  Ref fresh_array(ValueId value);
  // The elements as `dtype`. Throws InstructionBailout where NumPy warns whatever the elements are: an imaginary part is
  // discarded.
  ValueId astype(ValueId value, DType dtype);
  // Rank-0 graph value of a scalar or of a constant Python or NumPy number.
  Result<ValueId> scalar_value(const Ref& scalar);
  // Type of the Python object (borrowed); null for NULL.
  PyTypeObject* type_of(const Ref& value);
  // Throws InstructionBailout for more axes than NumPy's arrays may have.
  static void check_rank(size_t rank);

 private:
  Ref constant_within(PyObject* object, int levels, std::unordered_map<PyObject*, Ref>& made);

  Capture& capture_;
};

// numpy.ndarray, and the Python type that a py_scalar of this dtype has (borrowed).
PyTypeObject* array_type();
PyTypeObject* python_type_of(DType dtype);

}  // namespace accel
