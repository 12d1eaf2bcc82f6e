// arange. NumPy counts the elements with the arithmetic of the given objects: ceil((stop - start) / step). It computes the
// first element (start) and the second (start + step), and extrapolates all others from these two in the dtype of the result.

#include <algorithm>
#include <cmath>

#include "capture/numpy/arrays/creation.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

using Kind = OperandType::Kind;

struct ArangeBounds {
  Ref start, stop, step;
  Operand first, last, by;
};

// The number of elements in exact integer arithmetic. NumPy divides floats, which gives the same count for a step of one, and
// for other steps while the distance is exact as a float.
Result<Dim> integer_count(Capture& capture, Dim start, Dim stop, int64_t step) {
  DimTable& dims = capture.dims();
  if (step == 0) return fail(Reason::will_raise, "arange with a step of zero");
  Dim distance = step > 0 ? dims.sub(stop, start) : dims.sub(start, stop);
  if (!capture.facts().assume_fits(distance)) return fail(Reason::unsupported_argument, "an arange of large numbers");
  if (capture.ranges().hint(distance) == 0 && !dims.as_constant(start))
    capture.facts().decide(distance, Comparison::ge, dims.constant(0));
  // An empty range needs no guard of its own if the distance is an extent.
  if (!capture.facts().decide(distance, Comparison::ge, dims.constant(0))) return dims.constant(0);
  int64_t size = std::llabs(step);
  if (size == 1) return distance;
  if (!capture.facts().expect(distance, Comparison::lt, dims.constant(int64_t{1} << 53)))
    return fail(Reason::unsupported_argument, "an arange of large numbers");
  return dims.floordiv(dims.add(distance, dims.constant(size - 1)), dims.constant(size));
}

bool is_integral(const Operand& operand) { return !operand.is_array() && is_integer_dtype(operand.type.dtype); }

// The int equal to an argument: an int, or a constant float without a fraction; null for others.
Ref whole_number(Capture& capture, const Operand& operand) {
  if (is_integral(operand)) return operand.ref;
  uint64_t bits[2];
  bool constant = operand.ref->kind == AbstractKind::constant && operand.type.dtype == DType::float64;
  if (!constant || !read_scalar(operand.ref->object.get(), DType::float64, bits)) return nullptr;
  double value = Literal{DType::float64, {bits[0], bits[1]}}.as_complex().real();
  bool whole = std::trunc(value) == value && std::fabs(value) < 1 << 30 && (value != 0 || !std::signbit(value));
  return whole ? capture.values().python_int(static_cast<int64_t>(value)) : nullptr;
}

// Fails where the bounds' own types wrap around in the subtraction or addition: narrow NumPy integers do, and warn.
Status check_wrap(Capture& capture, const Operand& left, const Operand& right, std::initializer_list<Dim> numbers) {
  bool wide = true;
  for (const Operand* operand : {&left, &right}) {
    if (!is_integral(*operand)) return Unit{};
    wide = wide && (operand->type.kind != Kind::numpy_scalar || operand->type.dtype == DType::int64);
  }
  if (wide) return Unit{};
  const OperandType types[] = {left.type, right.type};
  ACCEL_TRY(DType dtype, numpy_result_type(types));
  if (!is_integer_dtype(dtype)) return fail(Reason::unsupported_argument, "an arange of integers that have floats in common");
  for (Dim d : numbers) {
    ACCEL_TRY([[maybe_unused]] Unit fits, check_dim(capture, d, dtype));
  }
  return Unit{};
}

// Whether the dtype represents all integers from the smallest to the largest of `numbers` exactly.
bool holds_integers(Capture& capture, DType dtype, std::initializer_list<Dim> numbers) {
  if (is_integer_dtype(dtype)) return true;
  DimTable& dims = capture.dims();
  Dim limit = dims.constant(dtype == DType::float32 ? int64_t{1} << 24 : int64_t{1} << 53);
  return std::all_of(numbers.begin(), numbers.end(), [&](Dim d) {
    return capture.facts().expect(d, Comparison::le, limit) &&
           capture.facts().expect(dims.sub(dims.constant(0), d), Comparison::le, limit);
  });
}

// arange of integers, or of floats that are whole numbers; nullopt: integer arithmetic need not give NumPy's result.
Result<std::optional<Ref>> integer_range(Capture& capture, const ArangeBounds& bounds, DType dtype) {
  Ref whole[] = {whole_number(capture, bounds.first), whole_number(capture, bounds.last), whole_number(capture, bounds.by)};
  bool all_ints = is_integral(bounds.first) && is_integral(bounds.last) && is_integral(bounds.by);
  if (!whole[0] || !whole[1] || !whole[2] || (!all_ints && dtype_kind(dtype) != 'f')) return std::optional<Ref>();
  DimTable& dims = capture.dims();
  ACCEL_TRY(Dim start, read_dim(capture, whole[0]));
  ACCEL_TRY(Dim stop, read_dim(capture, whole[1]));
  ACCEL_TRY(int64_t step, capture.constants().require_int(whole[2]));
  Dim by = dims.constant(step), second = dims.add(start, by);
  if (!capture.facts().assume_fits(second) || !holds_integers(capture, dtype, {start, by, second})) return std::optional<Ref>();
  ACCEL_TRY(Dim count, integer_count(capture, start, stop, step));
  ACCEL_TRY([[maybe_unused]] Unit apart, check_wrap(capture, bounds.last, bounds.first, {start, stop, dims.sub(stop, start)}));
  ACCEL_TRY([[maybe_unused]] Unit next, check_wrap(capture, bounds.first, bounds.by, {start, by, second}));
  ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, {count}, dtype));
  bool narrow = is_integer_dtype(dtype) && dtype != DType::int64;
  if (narrow && capture.facts().decide(count, Comparison::gt, dims.constant(1))) {
    ACCEL_TRY([[maybe_unused]] Unit fits, check_dim(capture, second, dtype));
  }
  Operand from = *as_operand(capture, capture.values().dim_scalar(start));
  ACCEL_TRY(ValueId first, operand_value(capture, from, dtype));
  Literal delta = is_integer_dtype(dtype) ? Literal::of_int(dtype, step) : Literal::of_double(dtype, static_cast<double>(step));
  ValueId difference = capture.build().constant(delta, ValueKind::numpy_scalar);
  return std::optional(capture.values().fresh_array(capture.build().arange(first, difference, count)));
}

// --- of constants -------------------------------------------------------------------------------------------------------

// ceil(distance / step) as NumPy computes it; -1 with a pending exception.
int64_t count_of(PyObject* distance, PyObject* step) {
  PyRef zero = PyRef::steal(PyLong_FromLong(0));
  int apart = PyObject_RichCompareBool(distance, zero.get(), Py_NE);
  PyRef quotient = PyRef::steal(apart < 0 ? nullptr : PyNumber_TrueDivide(distance, step));
  int vanishes = quotient ? PyObject_RichCompareBool(quotient.get(), zero.get(), Py_EQ) : -1;
  double value = vanishes < 0 ? -1.0 : PyFloat_AsDouble(quotient.get());
  if (PyErr_Occurred()) return -1;
  if (vanishes == 1 && apart == 1) return std::signbit(value) ? 0 : 1;
  value = std::ceil(value);
  constexpr double most = 9e15;
  if (std::isfinite(value) && value < most) return value > 0 ? static_cast<int64_t>(value) : 0;
  PyErr_SetString(PyExc_ValueError, "Maximum allowed size exceeded");
  return -1;
}

// The tuple (number of elements, start + step or None).
PyObject* progression_of(PyObject* start, PyObject* stop, PyObject* step) {
  PyRef distance = PyRef::steal(PyNumber_Subtract(stop, start));
  int64_t count = distance ? count_of(distance.get(), step) : -1;
  PyRef next = PyRef::steal(count < 0 ? nullptr : count == 0 ? Py_NewRef(Py_None) : PyNumber_Add(start, step));
  PyRef number = PyRef::steal(next ? PyLong_FromLongLong(count) : nullptr);
  return number ? PyTuple_Pack(2, number.get(), next.get()) : nullptr;
}

// The element that NumPy stores for a number. Fails where NumPy raises or may store another value.
Result<Literal> element_of(PyObject* number, DType dtype) {
  if (!is_integer_dtype(dtype)) {
    double value = PyFloat_AsDouble(number);
    if (PyErr_Occurred())
      PyErr_Clear();
    else if (std::isfinite(Literal::of_double(dtype, value).as_complex().real()))
      return Literal::of_double(dtype, value);
    return fail(Reason::unsupported_argument, "an arange of such numbers");
  }
  PyRef whole = PyRef::steal(PyNumber_Long(number));
  uint64_t bits[2];
  if (!whole) PyErr_Clear();
  if (!whole || !read_scalar(whole.get(), DType::int64, bits) || !read_scalar(whole.get(), dtype, bits))
    return fail(Reason::unsupported_argument, "an arange of numbers that do not fit");
  return Literal{dtype, {bits[0], 0}};
}

// The difference which added to the first element gives exactly the second; nullopt: there is none.
std::optional<Literal> difference_of(const Literal& first, const Literal& second) {
  DType dtype = first.dtype;
  if (is_integer_dtype(dtype)) {
    auto apart = static_cast<int64_t>(static_cast<uint64_t>(second.as_int()) - static_cast<uint64_t>(first.as_int()));
    return Literal::of_int(dtype, apart);
  }
  double one = first.as_complex().real(), other = second.as_complex().real();
  if (one == 0 && std::signbit(one)) return std::nullopt;  // adding 0 * delta would make it +0
  Literal apart = Literal::of_double(dtype, other - one);
  double delta = apart.as_complex().real();
  bool exact = std::isfinite(delta) && Literal::of_double(dtype, one + delta) == second;
  return exact ? std::optional(apart) : std::nullopt;
}

Result<Ref> range_of_constants(Capture& capture, const ArangeBounds& bounds, DType dtype) {
  ACCEL_TRY(PyRef start, capture.constants().require_constant(bounds.start));
  ACCEL_TRY(PyRef stop, capture.constants().require_constant(bounds.stop));
  ACCEL_TRY(PyRef step, capture.constants().require_constant(bounds.step));
  ACCEL_TRY(Ref parts, folded_quietly(capture, [&] { return progression_of(start.get(), stop.get(), step.get()); }));
  ACCEL_TRY(int64_t count, capture.constants().require_int(parts->items[0]));
  Dim length = capture.dims().constant(count);
  ACCEL_TRY([[maybe_unused]] Unit possible, check_size(capture, {length}, dtype));
  Literal first = is_integer_dtype(dtype) ? Literal::of_int(dtype, 0) : Literal::of_double(dtype, 0), apart = first;
  if (count > 0) {
    ACCEL_TRY(first, element_of(start.get(), dtype));
  }
  if (count > 1) {
    ACCEL_TRY(Literal second, element_of(parts->items[1]->object.get(), dtype));
    std::optional<Literal> difference = difference_of(first, second);
    if (!difference) return fail(Reason::unsupported_argument, "an arange with such a start and step");
    apart = *difference;
  }
  Builder& build = capture.build();
  ValueId from = build.constant(first, ValueKind::numpy_scalar), by = build.constant(apart, ValueKind::numpy_scalar);
  return capture.values().fresh_array(build.arange(from, by, length));
}

bool is_beyond_int64(const Operand& operand) {
  uint64_t bits[2];
  return operand.type.kind == Kind::py_int && operand.ref->kind == AbstractKind::constant &&
         !read_scalar(operand.ref->object.get(), DType::int64, bits);
}

// The common dtype of the bounds and intp.
Result<DType> dtype_of_bounds(const ArangeBounds& bounds) {
  std::vector<OperandType> types = {{Kind::array, DType::int64}};
  for (const Operand* operand : {&bounds.first, &bounds.last, &bounds.by}) {
    if (is_beyond_int64(*operand)) return fail(Reason::unsupported_argument, "an arange of integers beyond int64");
    types.push_back({Kind::array, operand->type.dtype});
  }
  return numpy_result_type(types);
}

Result<Operand> read_arange_bound(Capture& capture, const Ref& ref) {
  ACCEL_TRY(Operand operand, read_operand(capture, ref));
  if (operand.is_array())
    return fail(Reason::unsupported_argument, "an array as bound of arange; plain form: array.item() as the bound");
  return operand;
}

}  // namespace

// arange([start,] stop[, step], dtype=None)
Result<Ref> numpy_arange(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY(auto given, bind_arguments(arguments, {{"start", "stop", "step", "dtype", "device", "like"}, 0, 4}));
  if (!is_none(given[5])) return fail(Reason::unsupported_argument, "like; plain form: the call without like");
  if (is_none(given[1])) {
    given[1] = given[0];
    given[0] = nullptr;
  }
  if (is_none(given[1])) return fail(Reason::will_raise, "arange() requires stop to be specified.");
  Ref start = is_none(given[0]) ? capture.values().python_int(0) : given[0],
      step = is_none(given[2]) ? capture.values().python_int(1) : given[2];
  ACCEL_TRY(Operand first, read_arange_bound(capture, start));
  ACCEL_TRY(Operand last, read_arange_bound(capture, given[1]));
  ACCEL_TRY(Operand by, read_arange_bound(capture, step));
  const ArangeBounds bounds = {start, given[1], step, std::move(first), std::move(last), std::move(by)};
  ACCEL_TRY(auto dtype, read_dtype(capture, given[3]));
  if (!dtype) {
    ACCEL_TRY(dtype, dtype_of_bounds(bounds));
  }
  char kind = dtype_kind(*dtype);
  if (kind == 'b' || kind == 'c' || *dtype == DType::float16) return fail(Reason::unsupported_dtype, "arange of this dtype");
  ACCEL_TRY(auto integers, integer_range(capture, bounds, *dtype));
  if (integers) return *integers;
  return range_of_constants(capture, bounds, *dtype);
}

}  // namespace accel
