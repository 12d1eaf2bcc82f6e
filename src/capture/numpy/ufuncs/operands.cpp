#include "capture/protocol/operands.h"

#include <limits>

#include "capture/domain/repr.h"
#include "capture/numpy/arrays/creation.h"
#include "capture/protocol/masked_selection.h"
#include "capture/python/containers/dynamic_lists.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "ndarray/array.h"

namespace accel {

namespace {

std::optional<OperandType> number_type(PyObject* object) {
  using Kind = OperandType::Kind;
  if (PyBool_Check(object)) return OperandType{Kind::py_bool, DType::bool_};
  if (PyLong_CheckExact(object)) return OperandType{Kind::py_int, DType::int64};
  if (PyFloat_CheckExact(object)) return OperandType{Kind::py_float, DType::float64};
  if (PyComplex_CheckExact(object)) return OperandType{Kind::py_complex, DType::complex128};
  if (!is_numpy_scalar(object)) return std::nullopt;
  if (auto dtype = dtype_of_scalar(object)) return OperandType{Kind::numpy_scalar, *dtype};
  return std::nullopt;
}

OperandType scalar_type(const ScalarState& scalar) {
  using Kind = OperandType::Kind;
  if (scalar.kind == ValueKind::numpy_scalar) return {Kind::numpy_scalar, scalar.dtype};
  switch (dtype_kind(scalar.dtype)) {
    case 'b':
      return {Kind::py_bool, scalar.dtype};
    case 'f':
      return {Kind::py_float, scalar.dtype};
    case 'c':
      return {Kind::py_complex, scalar.dtype};
    default:
      return {Kind::py_int, scalar.dtype};
  }
}

struct IntegerRange {
  int64_t low, high;
};

// The range of an integer dtype, clamped to int64.
IntegerRange range_of(DType dtype) {
  int bits = item_size(dtype) * 8;
  if (dtype_kind(dtype) == 'u') return {0, bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1};
  if (bits == 64) return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

Failure out_of_range(DType dtype) {
  return fail(Reason::will_raise, std::string("a Python integer out of bounds for ") + dtype_name(dtype));
}

Result<ValueId> python_constant(Capture& capture, const Operand& operand, DType dtype) {
  PyObject* object = operand.ref->object.get();
  Literal literal;
  literal.dtype = dtype;
  if (dtype == DType::bool_) {
    uint64_t bits[2];
    bool is_int = operand.type.kind == OperandType::Kind::py_int;
    if (is_int && !read_scalar(object, DType::int64, bits)) return out_of_range(DType::int64);
    literal = Literal::of_int(dtype, PyObject_IsTrue(object));
  } else if (!read_scalar(object, dtype, literal.bits)) {
    if (operand.type.kind == OperandType::Kind::py_int && is_integer_dtype(dtype)) return out_of_range(dtype);
    return fail(Reason::floating_point_event, short_repr(object) + " overflows " + dtype_name(dtype));
  }
  return capture.build().constant(literal, ValueKind::numpy_scalar);
}

// NumPy casts Python ints to the narrow floating dtypes through float64.
ValueId python_cast(Capture& capture, ValueId value, OperandType type, DType dtype) {
  bool floating = dtype_kind(dtype) == 'f' || dtype_kind(dtype) == 'c';
  if (type.kind == OperandType::Kind::py_int && floating) value = PythonNumbers(capture).cast(value, DType::float64);
  if (capture.graph().type(value).dtype == dtype) return value;
  return capture.build().pointwise(Op::astype, {value}, {dtype}, ValueKind::numpy_scalar);  // NumPy's cast, with its events
}

// Exits where a run-time Python int does not fit an integer dtype, because NumPy raises or compares it by other rules.
Status require_in_range(Capture& capture, const Ref& ref, DType dtype) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, numbers.as_integer(ref));
  IntegerRange range = range_of(dtype);
  numbers.need(numbers.test(Op::greater_equal, v, numbers.integer(range.low)));
  if (dtype != DType::uint64) numbers.need(numbers.test(Op::less_equal, v, numbers.integer(range.high)));
  return numbers.settle("a Python integer out of bounds");
}

// Whether NumPy tests if the number fits the dtype. NumPy scalars wrap around in unsigned dtypes; constant Python numbers are
// tested where they become literals.
bool may_not_fit(const Operand& number, DType dtype) {
  char from = dtype_kind(number.type.dtype), to = dtype_kind(dtype);
  bool python = number.type.kind != OperandType::Kind::numpy_scalar;
  if (!is_integer_dtype(dtype) || (python && number.ref->kind == AbstractKind::constant)) return false;
  if (from == 'f') return python || to == 'i';
  if (python || to == 'u' || (from != 'i' && from != 'u')) return false;
  int own = item_size(number.type.dtype), wanted = item_size(dtype);
  return own > wanted || (own == wanted && from == 'u');
}

}  // namespace

Status check_dim(Capture& capture, Dim dim, DType dtype) {
  if (!is_integer_dtype(dtype) || dtype == DType::int64) return Unit{};
  IntegerRange range = range_of(dtype);
  if (!capture.facts().decide(dim, Comparison::ge, capture.dims().constant(range.low))) return out_of_range(dtype);
  if (!capture.facts().decide(dim, Comparison::le, capture.dims().constant(range.high))) return out_of_range(dtype);
  return Unit{};
}

namespace {

Result<Dim> common_extent(Capture& capture, Dim a, Dim b) {
  DimTable& dims = capture.dims();
  if (a == b || dims.is_constant(b, 1)) return a;
  if (dims.is_constant(a, 1)) return b;
  bool one = dims.is_constant(a, 1) || dims.is_constant(b, 1);
  if (!one && (capture.facts().is_runtime(a) || capture.facts().is_runtime(b)) && capture.facts().assume_equal(a, b))
    return dims.as_constant(b) ? b : a;
  if (capture.ranges().hint(a) == capture.ranges().hint(b) && capture.facts().decide_equal(a, b))
    return dims.as_constant(b) ? b : a;
  if (capture.ranges().hint(b) == 1 && capture.facts().decide_equal(b, dims.constant(1))) return a;
  if (capture.ranges().hint(a) == 1 && capture.facts().decide_equal(a, dims.constant(1))) return b;
  capture.facts().decide(a, Comparison::ne, b);
  return fail(Reason::will_raise, "operands could not be broadcast together");
}

}  // namespace

const StridedLayout& layout_of(const Ref& array) { return array->array.layout; }

std::optional<Operand> as_operand(Capture& capture, const Ref& ref) {
  capture.resolver().look(ref);
  switch (ref->kind) {
    case AbstractKind::array:
      return Operand{ref, {OperandType::Kind::array, layout_of(ref).dtype}, layout_of(ref).shape};
    case AbstractKind::scalar:
      return Operand{ref, scalar_type(ref->scalar), {}};
    case AbstractKind::constant:
      if (auto type = number_type(ref->object.get())) return Operand{ref, *type, {}};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Ref another_number(Capture& capture, const Ref& number) {
  bool is_constant = number->kind == AbstractKind::constant && is_numpy_scalar(number->object.get());
  if (is_constant) {
    Result<ValueId> value = capture.values().scalar_value(number);
    return value.ok() ? capture.values().scalar(*value) : number;
  }
  if (number->kind != AbstractKind::scalar) return number;
  Ref out = std::make_shared<AbstractValue>();
  out->kind = AbstractKind::scalar;
  out->scalar = number->scalar;
  return out;
}

Result<Operand> read_operand(Capture& capture, const Ref& ref) {
  ACCEL_TRY([[maybe_unused]] Unit gathered, materialise(capture, ref));
  if (auto operand = as_operand(capture, ref)) return *operand;
  if (ref->kind == AbstractKind::object) return capture.resolver().refusal(ref);
  if (is_array_sequence(ref)) {
    ACCEL_TRY(Ref array, array_of_sequence(capture, ref, std::nullopt));
    return *as_operand(capture, array);
  }
  return fail(Reason::unsupported_value, "an operand that is no array and no number");
}

Status require_element_in_range(Capture& capture, const Operand& number, DType dtype) {
  if (!may_not_fit(number, dtype)) return Unit{};
  Builder& build = capture.build();
  ACCEL_TRY(ValueId value, capture.values().scalar_value(number.ref));
  bool is_float = dtype_kind(number.type.dtype) == 'f';
  DType wide = is_float ? DType::float64 : number.type.dtype;
  if (wide != number.type.dtype) value = build.pointwise(Op::astype, {value}, {wide}, ValueKind::numpy_scalar);
  auto test = [&](Op op, Literal limit) {
    return build.pointwise(op, {value, build.constant(limit, ValueKind::numpy_scalar)}, {DType::bool_},
                           ValueKind::numpy_scalar);
  };
  IntegerRange range = range_of(dtype);
  std::vector<ValueId> tests;
  if (is_float) {  // the range test applies to the truncated value
    double above = dtype == DType::uint64 ? 0x1p64 : static_cast<double>(range.high) + 1;
    tests = {test(Op::less, Literal::of_double(wide, above)),
             test(Op::greater, Literal::of_double(wide, static_cast<double>(range.low) - 1))};
  } else {
    tests = {test(Op::less_equal, Literal::of_int(wide, range.high))};
    if (dtype_kind(wide) == 'i') tests.push_back(test(Op::greater_equal, Literal::of_int(wide, range.low)));
  }
  ValueId fits = tests[0];
  if (tests.size() > 1) fits = build.pointwise(Op::logical_and, tests, {DType::bool_}, ValueKind::numpy_scalar);
  return capture.require(fits, Reason::will_raise, "a number out of bounds");
}

Result<ValueId> operand_value(Capture& capture, const Operand& operand, DType dtype) {
  if (operand.is_array()) return capture.values().astype(capture.memory().read(operand.ref), dtype);
  bool python = operand.type.kind != OperandType::Kind::numpy_scalar;
  if (python && operand.ref->kind == AbstractKind::constant) return python_constant(capture, operand, dtype);
  if (python && operand.ref->scalar.dim) {
    ACCEL_TRY([[maybe_unused]] Unit in_range, check_dim(capture, *operand.ref->scalar.dim, dtype));
  } else if (operand.type.kind == OperandType::Kind::py_int && is_integer_dtype(dtype) && dtype != DType::int64) {
    ACCEL_TRY([[maybe_unused]] Unit in_range, require_in_range(capture, operand.ref, dtype));
  }
  ACCEL_TRY(ValueId value, capture.values().scalar_value(operand.ref));
  if (!python) return capture.values().astype(value, dtype);
  OperandCast cast(capture);
  return python_cast(capture, value, operand.type, dtype);
}

Result<ValueId> gufunc_operand(Capture& capture, const Operand& operand, DType dtype) {
  ACCEL_TRY(ValueId value, operand_value(capture, operand, dtype));
  if (operand.type.dtype == dtype || capture.graph().type(value).is_c_order()) return value;
  return capture.build().pointwise(Op::copy, {value}, {dtype});
}

Result<std::vector<Dim>> broadcast_shapes(Capture& capture, const std::vector<std::vector<Dim>>& shapes) {
  std::vector<Dim> out;
  for (const std::vector<Dim>& shape : shapes) {
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), capture.dims().constant(1));
    for (size_t k = 0; k < shape.size(); ++k) {
      Dim& extent = out[out.size() - shape.size() + k];
      ACCEL_TRY(extent, common_extent(capture, extent, shape[k]));
    }
  }
  return out;
}

ValueId with_shape(Capture& capture, ValueId value, const std::vector<Dim>& shape) {
  return capture.graph().type(value).shape == shape ? value : capture.build().reshape(value, shape);
}

namespace {

bool is_decided_one(Capture& capture, Dim own, Dim result) {
  if (capture.facts().is_runtime(own) || capture.facts().is_runtime(result))
    return capture.facts().is_known_equal(own, capture.dims().constant(1));
  return capture.ranges().hint(own) != capture.ranges().hint(result);
}

}  // namespace

ValueId broadcast_value(Capture& capture, ValueId value, const std::vector<Dim>& shape) {
  std::vector<Dim> own = capture.graph().type(value).shape;
  if (own.empty()) return value;
  size_t extra = shape.size() - own.size();
  std::vector<Dim> aligned = own;
  for (size_t k = 0; k < own.size(); ++k) {
    if (!capture.dims().is_constant(own[k], 1) || capture.dims().is_constant(shape[k + extra], 1))
      aligned[k] = shape[k + extra];
  }
  // An extent that was decided to be 1 without being the constant 1 is recognised by its hint, which differs from the result's.
  for (size_t k = 0; k < own.size(); ++k) {
    if (aligned[k] != own[k] && is_decided_one(capture, own[k], aligned[k])) aligned[k] = capture.dims().constant(1);
  }
  return capture.build().broadcast_to(with_shape(capture, value, aligned), shape);
}

bool is_one(Capture& capture, Dim a) { return capture.facts().decide_equal(a, capture.dims().constant(1)); }

bool has_no_elements(Capture& capture, const std::vector<Dim>& shape) {
  const Dim zero = capture.dims().constant(0);
  return std::any_of(shape.begin(), shape.end(), [&](Dim extent) {
    return capture.ranges().hint(extent) == 0 && capture.facts().decide_equal(extent, zero);
  });
}

Dim element_count(Capture& capture, const std::vector<Dim>& shape) { return capture.dims().product(shape); }

}  // namespace accel
