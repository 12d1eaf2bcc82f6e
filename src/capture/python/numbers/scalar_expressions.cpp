#include "capture/python/numbers/scalar_expressions.h"

#include "ndarray/array.h"

namespace accel {

ValueId PythonNumbers::cast(ValueId v, DType to) {
  const Type& from = capture_.graph().type(v);
  if (from.dtype == to && from.kind == ValueKind::py_scalar) return v;
  return apply(Op::astype, {v}, to);
}

Result<ValueId> PythonNumbers::as_integer(const Ref& ref) {
  ACCEL_TRY(ValueId v, capture_.values().scalar_value(ref));
  return cast(v, DType::int64);
}

// A constant int beyond int64 is converted to the nearest float as well.
Result<ValueId> PythonNumbers::as_real(const Ref& ref) {
  if (ref->kind == AbstractKind::constant && PyLong_CheckExact(ref->object.get())) {
    double value = PyLong_AsDouble(ref->object.get());
    if (value != -1.0 || !PyErr_Occurred()) return real(value);
    PyErr_Clear();
    return fail(Reason::will_raise, "int too large to convert to float");
  }
  ACCEL_TRY(ValueId v, capture_.values().scalar_value(ref));
  return cast(v, DType::float64);
}

Result<ValueId> PythonNumbers::as_complex(const Ref& ref) {
  auto operand = as_operand(capture_, ref);
  if (operand && dtype_kind(operand->type.dtype) == 'c') {
    ACCEL_TRY(ValueId v, capture_.values().scalar_value(ref));
    return cast(v, DType::complex128);
  }
  ACCEL_TRY(ValueId v, as_real(ref));
  return complex(v, real(0));
}

ValueId PythonNumbers::integer_of(ValueId whole) {
  need(both(test(Op::greater_equal, whole, real(-0x1p63)), test(Op::less, whole, real(0x1p63))));
  return cast(whole, DType::int64);
}

void PythonNumbers::need(ValueId condition) { needed_ = needed_ == no_value ? condition : both(needed_, condition); }

Status PythonNumbers::settle(const char* detail, Reason reason) {
  if (needed_ == no_value) return Unit{};
  ValueId condition = needed_;
  needed_ = no_value;
  return capture_.require(condition, reason, detail);
}

Result<Ref> PythonNumbers::settled(ValueId result, const char* detail, Reason reason) {
  ACCEL_TRY([[maybe_unused]] Unit done, settle(detail, reason));
  return capture_.values().scalar(result);
}

Result<Ref> python_integer(Capture& capture, const Ref& value) {
  if (capture.values().type_of(value) == &PyLong_Type) return value;
  if (value->kind == AbstractKind::scalar && value->scalar.dim) return capture.values().dim_scalar(*value->scalar.dim);
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, numbers.as_integer(value));
  if (value->kind == AbstractKind::scalar && value->scalar.dtype == DType::uint64)
    numbers.need(numbers.test(Op::greater_equal, v, numbers.integer(0)));
  return numbers.settled(v, "an int beyond int64");
}

std::optional<Result<Ref>> python_attribute(Capture& capture, const Ref& value, std::string_view name) {
  bool real = name == "real", imaginary = name == "imag";
  PythonNumbers numbers(capture);
  switch (dtype_kind(value->scalar.dtype)) {
    case 'c':
      if (!real && !imaginary) return std::nullopt;
      if (auto v = capture.values().scalar_value(value); v.ok()) return capture.values().scalar(numbers.part(*v, imaginary));
      return std::nullopt;
    case 'f':
      if (real) return value;
      if (imaginary) return capture.values().constant(PyRef::steal(PyFloat_FromDouble(0)).get());
      return std::nullopt;
    default:
      if (imaginary) return capture.values().python_int(0);
      if (name == "denominator") return capture.values().python_int(1);
      if (!real && name != "numerator") return std::nullopt;
      return python_integer(capture, value);
  }
}

bool is_python_number(const Operand& operand) {
  return !operand.is_array() && operand.type.kind != OperandType::Kind::numpy_scalar;
}

bool is_constant_number(const Ref& ref, double value) {
  if (ref->kind != AbstractKind::constant) return false;
  PyObject* object = ref->object.get();
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object) == value;
  if (!PyLong_Check(object)) return false;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 && static_cast<double>(number) == value;
}

}  // namespace accel
