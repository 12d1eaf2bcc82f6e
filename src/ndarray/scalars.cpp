// Scalars: NumPy scalar types, and the bits of Python and NumPy numbers.

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "ir/graph.h"
#include "ndarray/array.h"
#include "ndarray/numpy_api.h"

namespace accel {
namespace {

// A number during a conversion between dtypes.
struct Number {
  enum class Kind : uint8_t { integer, natural, real, complex } kind = Kind::integer;
  int64_t integer = 0;
  uint64_t natural = 0;  // integers above int64
  double real = 0, imag = 0;
  bool python = false;  // NumPy converts Python ints to floating dtypes through double
};

std::optional<Number> number_of_python_int(PyObject* object) {
  Number number;
  number.python = true;
  int overflow = 0;
  number.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return number;
  if (overflow < 0) return std::nullopt;
  number.kind = Number::Kind::natural;
  number.natural = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return number;
}

std::optional<Number> number_of_python(PyObject* object) {
  Number number;
  if (PyBool_Check(object) || PyLong_CheckExact(object)) return number_of_python_int(object);
  if (PyFloat_CheckExact(object)) {
    number.kind = Number::Kind::real;
    number.real = PyFloat_AS_DOUBLE(object);
    return number;
  }
  if (PyComplex_CheckExact(object)) {
    number.kind = Number::Kind::complex;
    number.real = PyComplex_RealAsDouble(object);
    number.imag = PyComplex_ImagAsDouble(object);
    return number;
  }
  return std::nullopt;
}

Number number_of_bits(DType dtype, const uint64_t bits[2]) {
  Literal literal{dtype, {bits[0], bits[1]}};
  Number number;
  switch (dtype_kind(dtype)) {
    case 'c':
    case 'f': {
      std::complex<double> value = literal.as_complex();
      number.kind = dtype_kind(dtype) == 'c' ? Number::Kind::complex : Number::Kind::real;
      number.real = value.real(), number.imag = value.imag();
      return number;
    }
    default:
      number.integer = literal.as_int();
      number.natural = static_cast<uint64_t>(number.integer);
      if (dtype == DType::uint64 && number.integer < 0) number.kind = Number::Kind::natural;
      return number;
  }
}

bool fits(int64_t value, DType dtype) {
  if (dtype == DType::bool_) return value == 0 || value == 1;
  int bits = item_size(dtype) * 8;
  if (dtype_kind(dtype) == 'u') return value >= 0 && (bits == 64 || value < (int64_t{1} << bits));
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1)));
}

// Finite values must stay finite: NumPy warns when they do not.
bool store_floating(const Number& number, DType dtype, Literal& out) {
  double real = number.real;
  bool by_float = !number.python && dtype != DType::float64 && dtype != DType::complex128;
  if (number.kind == Number::Kind::integer) {
    real = by_float ? static_cast<float>(number.integer) : static_cast<double>(number.integer);
  } else if (number.kind == Number::Kind::natural) {
    real = by_float ? static_cast<float>(number.natural) : static_cast<double>(number.natural);
  }
  if (dtype_kind(dtype) == 'c') {
    out = Literal::of_complex(dtype, {real, number.imag});
  } else {
    if (number.kind == Number::Kind::complex) return false;
    out = Literal::of_double(dtype, real);
  }
  std::complex<double> stored = out.as_complex();
  return std::isfinite(stored.real()) == std::isfinite(real) && std::isfinite(stored.imag()) == std::isfinite(number.imag);
}

bool store_number(const Number& number, DType dtype, Literal& out) {
  if (dtype_kind(dtype) == 'f' || dtype_kind(dtype) == 'c') return store_floating(number, dtype, out);
  if (number.kind == Number::Kind::natural && dtype == DType::uint64) {
    out = Literal::of_int(dtype, static_cast<int64_t>(number.natural));
    return true;
  }
  if (number.kind != Number::Kind::integer || !fits(number.integer, dtype)) return false;
  out = Literal::of_int(dtype, number.integer);
  return true;
}

}  // namespace

PyTypeObject* scalar_type_of(DType dtype) { return reinterpret_cast<PyArray_Descr*>(descr_of(dtype))->typeobj; }

std::optional<DType> dtype_of_scalar(PyObject* scalar) {
  static const auto types = [] {
    std::array<PyTypeObject*, dtype_count> table;
    for (int i = 0; i < dtype_count; i++) table[i] = scalar_type_of(static_cast<DType>(i));
    return table;
  }();
  for (int i = 0; i < dtype_count; i++) {
    if (types[i] == Py_TYPE(scalar)) return static_cast<DType>(i);
  }
  return std::nullopt;
}

PyObject* new_numpy_scalar(DType dtype, const void* bits) {
  return PyArray_Scalar(const_cast<void*>(bits), reinterpret_cast<PyArray_Descr*>(descr_of(dtype)), nullptr);
}

PyObject* new_python_scalar(DType dtype, const void* bits) {
  Literal literal{dtype, {0, 0}};
  std::memcpy(literal.bits, bits, item_size(dtype));
  switch (dtype_kind(dtype)) {
    case 'b':
      return PyBool_FromLong(literal.as_int() != 0);
    case 'u':
      return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(literal.as_int()));
    case 'i':
      return PyLong_FromLongLong(literal.as_int());
    case 'f':
      return PyFloat_FromDouble(literal.as_complex().real());
    default:
      return PyComplex_FromDoubles(literal.as_complex().real(), literal.as_complex().imag());
  }
}

// Where the objects of all these types have their value.
constexpr size_t value_offset = offsetof(PyDoubleScalarObject, obval);
static_assert(value_offset == offsetof(PyBoolScalarObject, obval) && value_offset == offsetof(PyByteScalarObject, obval) &&
              value_offset == offsetof(PyUByteScalarObject, obval) && value_offset == offsetof(PyShortScalarObject, obval) &&
              value_offset == offsetof(PyUShortScalarObject, obval) && value_offset == offsetof(PyIntScalarObject, obval) &&
              value_offset == offsetof(PyUIntScalarObject, obval) && value_offset == offsetof(PyLongScalarObject, obval) &&
              value_offset == offsetof(PyULongScalarObject, obval) && value_offset == offsetof(PyHalfScalarObject, obval) &&
              value_offset == offsetof(PyFloatScalarObject, obval) && value_offset == offsetof(PyCFloatScalarObject, obval) &&
              value_offset == offsetof(PyCDoubleScalarObject, obval));

bool read_scalar(PyObject* scalar, DType dtype, uint64_t bits[2]) {
  bits[0] = bits[1] = 0;
  std::optional<Number> number;
  if (std::optional<DType> own = dtype_of_scalar(scalar)) {
    uint64_t raw[2] = {0, 0};
    std::memcpy(raw, reinterpret_cast<const char*>(scalar) + value_offset, item_size(*own));
    if (*own == dtype) {
      bits[0] = raw[0], bits[1] = raw[1];
      return true;
    }
    number = number_of_bits(*own, raw);
  } else {
    number = number_of_python(scalar);
  }
  Literal literal;
  if (!number || !store_number(*number, dtype, literal)) return false;
  bits[0] = literal.bits[0], bits[1] = literal.bits[1];
  return true;
}

}  // namespace accel
