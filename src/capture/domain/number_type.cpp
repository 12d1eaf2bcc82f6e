#include "capture/domain/number_type.h"

#include "capture/domain/recognised_types.h"
#include "ndarray/array.h"

namespace accel {

namespace {

std::optional<Type> constant_type(PyObject* object) {
  ValueKind kind = ValueKind::py_scalar;
  std::optional<DType> dtype;
  if (PyBool_Check(object)) {
    dtype = DType::bool_;
  } else if (PyLong_CheckExact(object)) {
    dtype = DType::int64;
  } else if (PyFloat_CheckExact(object)) {
    dtype = DType::float64;
  } else if (PyComplex_CheckExact(object)) {
    dtype = DType::complex128;
  } else if (is_numpy_scalar(object)) {
    kind = ValueKind::numpy_scalar;
    dtype = dtype_of_scalar(object);
  }
  uint64_t bits[2];
  if (!dtype || !read_scalar(object, *dtype, bits)) return std::nullopt;
  return Type{kind, *dtype, {}, {}};
}

}  // namespace

std::optional<Type> number_type(const AbstractValue& value) {
  if (value.kind == AbstractKind::scalar) return Type{value.scalar.kind, value.scalar.dtype, {}, {}};
  if (value.kind != AbstractKind::constant) return std::nullopt;
  return constant_type(value.object.get());
}

}  // namespace accel
