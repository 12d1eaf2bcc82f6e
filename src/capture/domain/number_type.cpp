#include "capture/domain/number_type.h"

#include "ndarray/array.h"

namespace accel {

std::optional<DType> number_dtype(PyObject* object) {
  if (PyBool_Check(object)) return DType::bool_;
  if (PyLong_CheckExact(object)) return DType::int64;
  if (PyFloat_CheckExact(object)) return DType::float64;
  if (PyComplex_CheckExact(object)) return DType::complex128;
  return is_numpy_scalar(object) ? dtype_of_scalar(object) : std::nullopt;
}

std::optional<Type> number_type(const AbstractValue& value) {
  if (value.kind == AbstractKind::scalar) return Type{value.scalar.kind, value.scalar.dtype, {}, {}};
  if (value.kind != AbstractKind::constant) return std::nullopt;
  PyObject* object = value.object.get();
  std::optional<DType> dtype = number_dtype(object);
  uint64_t bits[2];
  if (!dtype || !read_scalar(object, *dtype, bits)) return std::nullopt;
  return Type{is_numpy_scalar(object) ? ValueKind::numpy_scalar : ValueKind::py_scalar, *dtype, {}, {}};
}

}  // namespace accel
