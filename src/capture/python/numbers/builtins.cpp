// Builtins that compute with numbers.

#include <opcode.h>

#include <algorithm>
#include <limits>

#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/protocol/builtin_calls.h"
#include "capture/protocol/conditions.h"
#include "capture/protocol/scalar_overflow.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "cpython/imported.h"
#include "ndarray/array.h"

namespace accel {

namespace {

Result<Ref> call_ufunc(Capture& capture, const char* name, std::vector<Ref> operands) {
  PyRef ufunc = imported_attribute("numpy", name);
  if (!ufunc) return fail(Reason::unsupported_call, name);
  CallArguments arguments;
  arguments.positional = std::move(operands);
  return capture.call(capture.values().constant(ufunc.get()), arguments);
}

// The candidates of min and max: the arguments, or the items of the only argument.
Result<std::vector<Ref>> candidates(Capture& capture, const CallArguments& arguments) {
  if (!arguments.keywords.empty()) return fail(Reason::unsupported_argument, "key or default");
  if (arguments.positional.size() != 1) return arguments.positional;
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  for (const Ref& item : items) capture.resolver().look(item);
  return items;
}

// The extreme of numbers is one of the objects: the first with its type and bits. For many numbers an exit makes a new object
// instead.
void name_candidates(AbstractValue& chosen, const std::vector<Ref>& items) {
  constexpr size_t most = 8;
  chosen.is_one_of_several = true;
  if (items.size() <= most) chosen.items = items;
}

// The greatest or least of ints with Dims, as a Dim; the first such item itself if it is known.
std::optional<Ref> extreme_dim(Capture& capture, const std::vector<Ref>& items, bool largest) {
  std::optional<Dim> best;
  std::vector<Dim> dims;
  for (const Ref& item : items) {
    auto d = capture.values().type_of(item) == &PyLong_Type ? known_dim(capture, item) : std::nullopt;
    if (!d) return std::nullopt;
    dims.push_back(*d);
    best = !best ? *d : largest ? capture.dims().max(*best, *d) : capture.dims().min(*best, *d);
  }
  auto first = std::find(dims.begin(), dims.end(), *best);
  if (first != dims.end()) return items[static_cast<size_t>(first - dims.begin())];
  Ref chosen = capture.values().dim_scalar(*best);
  name_candidates(*chosen, items);
  return chosen;
}

// The best candidate so far. If it depends on data there is one alternative per type, of which exactly one holds.
class Extreme {
 public:
  Extreme(Capture& capture, bool largest, Ref first) : capture_(capture), op_(largest ? Py_GT : Py_LT) {
    alternatives_.push_back({std::move(first)});
  }

  // Among equal candidates the first one is taken.
  Status add(const Ref& item) {
    std::optional<Type> number = number_type(*item);
    bool ordered = number && dtype_kind(number->dtype) != 'c';
    const bool same = item == alternatives_[0].value;
    if (ordered && same) return Unit{};
    ACCEL_TRY(Ref better, alternatives_.size() == 1 ? is_better_than(item, alternatives_[0].value) : is_better(item));
    if (number && same) return Unit{};  // the comparison may only raise
    if (better->kind != AbstractKind::constant) return replace(item, better);
    if (better->object.get() != Py_True) return Unit{};
    alternatives_ = {{item}};
    number_ = no_value;
    return Unit{};
  }

  // The extreme of `items`. With several alternatives it is a select value, on which a call forks the path.
  Ref result(const std::vector<Ref>& items) {
    for (Alternative& alternative : alternatives_)
      if (alternative.is_computed) name_candidates(*alternative.value, items);
    Ref out = alternatives_.back().value;
    for (size_t i = alternatives_.size() - 1; i-- > 0;) {
      out = capture_.values().tuple({alternatives_[i].value, capture_.values().scalar(alternatives_[i].holds), out});
      out->kind = AbstractKind::select;
    }
    return out;
  }

 private:
  struct Alternative {
    Ref value;
    ValueId holds = no_value;  // no_value: it always holds
    bool is_computed = false;  // one of several items
  };

  // Whether `item` is better, as a constant or run-time bool.
  Result<Ref> is_better_than(const Ref& item, const Ref& value) {
    ACCEL_TRY(Ref better, compare(capture_, op_, item, value, true));
    if (better->kind == AbstractKind::scalar) return truth_value(capture_, better);
    ACCEL_TRY(bool known, truth(capture_, better));
    return make_bool(capture_, known);
  }

  // A number as a value of `dtype` (int64 or float64), if comparing these values compares the numbers exactly.
  std::optional<ValueId> number_as(const Ref& ref, DType dtype) {
    if (dtype != DType::int64 && dtype != DType::float64) return std::nullopt;
    if (dtype == DType::float64 && capture_.constants().is_constant(ref) && capture_.values().type_of(ref) == &PyLong_Type) {
      const double value = PyLong_AsDouble(ref->object.get());
      if (PyErr_Occurred()) PyErr_Clear();
      if (!(value >= -0x1p53 && value <= 0x1p53)) return std::nullopt;
      return capture_.build().constant(Literal::of_double(dtype, value), ValueKind::py_scalar);
    }
    Result<ValueId> value = capture_.values().scalar_value(ref);
    if (!value.ok() || capture_.graph().type(*value).dtype != dtype) return std::nullopt;
    return *value;
  }
  ValueId best_as(DType dtype) {
    if (alternatives_.size() == 1) return number_as(alternatives_[0].value, dtype).value_or(no_value);
    return number_ != no_value && capture_.graph().type(number_).dtype == dtype ? number_ : no_value;
  }

  Result<Ref> is_better(const Ref& item) {
    if (number_ != no_value) {
      DType dtype = capture_.graph().type(number_).dtype;
      if (std::optional<ValueId> value = number_as(item, dtype))
        return capture_.values().scalar(test(op_ == Py_GT ? Op::greater : Op::less, *value, number_));
    }
    ValueId any = no_value;
    for (const Alternative& alternative : alternatives_) {
      ACCEL_TRY(Ref answer, is_better_than(item, alternative.value));
      ACCEL_TRY(ValueId better, capture_.values().scalar_value(answer));
      ValueId both = test(Op::logical_and, alternative.holds, better);
      any = any == no_value ? both : test(Op::logical_or, any, both);
    }
    return capture_.values().scalar(any);
  }

  Status replace(const Ref& item, const Ref& better) {
    ACCEL_TRY(ValueId condition, capture_.values().scalar_value(better));
    ACCEL_TRY(ValueId yes, capture_.values().scalar_value(item));
    ValueId worse = capture_.build().pointwise(Op::logical_not, {condition}, {DType::bool_}, ValueKind::py_scalar);
    ValueId before = best_as(capture_.graph().type(yes).dtype);
    number_ = before == no_value ? no_value : choose(condition, yes, before);
    bool placed = false;
    for (Alternative& alternative : alternatives_) {
      bool always = alternative.holds == no_value;
      if (capture_.values().type_of(alternative.value) != capture_.values().type_of(item)) {
        alternative.holds = always ? worse : test(Op::logical_and, alternative.holds, worse);
        continue;
      }
      ValueId chosen = number_;
      if (chosen == no_value) {
        ACCEL_TRY(ValueId no, capture_.values().scalar_value(alternative.value));
        chosen = choose(condition, yes, no);
      }
      alternative = {capture_.values().scalar(chosen), always ? no_value : test(Op::logical_or, alternative.holds, condition),
                     true};
      placed = true;
    }
    if (!placed) alternatives_.push_back({item, condition});
    return Unit{};
  }

  ValueId choose(ValueId condition, ValueId yes, ValueId no) {
    const Type type = capture_.graph().type(yes);
    return capture_.build().pointwise(Op::where, {condition, yes, no}, {type.dtype}, type.kind);
  }
  ValueId test(Op op, ValueId a, ValueId b) {
    return capture_.build().pointwise(op, {a, b}, {DType::bool_}, ValueKind::py_scalar);
  }

  Capture& capture_;
  int op_;
  std::vector<Alternative> alternatives_;
  ValueId number_ = no_value;  // with several alternatives: the number that holds, if all have one dtype
};

Result<Ref> extreme(Capture& capture, PyObject* callable, const CallArguments& arguments, bool largest) {
  ACCEL_TRY(std::vector<Ref> items, candidates(capture, arguments));
  if (items.empty()) return fail(Reason::will_raise, "no candidates");
  bool all_constant = true;
  for (const Ref& item : items) all_constant = all_constant && capture.constants().is_constant(item);
  if (all_constant) {
    CallArguments constants;
    constants.positional = {capture.values().tuple(items)};
    return fold_call(capture, callable, constants);
  }
  if (auto found = extreme_dim(capture, items, largest)) return *found;
  Extreme best(capture, largest, items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    ACCEL_TRY([[maybe_unused]] Unit done, best.add(items[i]));
  }
  return best.result(items);
}

// Whether sum() of floats compensates rounding errors (since 3.12).
bool sum_compensates() {
  static const bool known = [] {
    PyRef items = PyRef::steal(Py_BuildValue("[ddd]", 1e16, 1.0, 1.0));
    PyRef builtins = PyRef::steal(PyImport_ImportModule("builtins"));
    PyRef total = PyRef::steal(items && builtins ? PyObject_CallMethod(builtins.get(), "sum", "O", items.get()) : nullptr);
    if (!total) PyErr_Clear();
    return total && PyFloat_AsDouble(total.get()) != 1e16;
  }();
  return known;
}

// sum() from the first float on: Neumaier's algorithm over floats and ints, as in CPython 3.12.
class FloatSum {
 public:
  FloatSum(Capture& capture, ValueId first) : numbers_(capture), total_(first), lost_(numbers_.real(0)) {}

  void add(ValueId x) {
    ValueId sum = plus(total_, x);
    ValueId larger = numbers_.test(Op::greater_equal, size(total_), size(x));
    ValueId of_total = plus(minus(total_, sum), x), of_x = plus(minus(x, sum), total_);
    lost_ = plus(lost_, numbers_.select(larger, of_total, of_x));
    total_ = sum;
  }
  void add_int(ValueId x) { total_ = plus(total_, x); }
  // The correction is not added if it is 0, because that would lose the sign of a zero, or if it is not finite.
  ValueId result() {
    ValueId useful = numbers_.both(numbers_.test(Op::not_equal, lost_, numbers_.real(0)),
                                   numbers_.apply(Op::isfinite, {lost_}, DType::bool_));
    return numbers_.select(useful, plus(total_, lost_), total_);
  }

 private:
  ValueId plus(ValueId a, ValueId b) { return numbers_.apply(Op::add, {a, b}, DType::float64); }
  ValueId minus(ValueId a, ValueId b) { return numbers_.apply(Op::subtract, {a, b}, DType::float64); }
  ValueId size(ValueId a) { return numbers_.apply(Op::absolute, {a}, DType::float64); }

  PythonNumbers numbers_;
  ValueId total_, lost_;
};

// Adds items[first...] to the float `total`. Stops at the first item that is neither float nor int.
Result<Ref> sum_floats(Capture& capture, const Ref& total, const std::vector<Ref>& items, size_t& first) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId start, numbers.as_real(total));
  FloatSum sum(capture, start);
  for (; first < items.size(); ++first) {
    PyTypeObject* type = capture.values().type_of(items[first]);
    if (type != &PyFloat_Type && type != &PyLong_Type && type != &PyBool_Type) break;
    ACCEL_TRY(ValueId x, numbers.as_real(items[first]));
    if (type == &PyFloat_Type) {
      sum.add(x);
    } else {
      sum.add_int(x);
    }
  }
  return capture.values().scalar(sum.result());
}

Result<Ref> absolute_number(Capture& capture, const Operand& operand) {
  PythonNumbers numbers(capture);
  if (operand.type.kind == OperandType::Kind::py_complex) {
    ACCEL_TRY(ValueId v, numbers.as_complex(operand.ref));
    ValueId real = numbers.part(v, false), imag = numbers.part(v, true);
    ValueId out = numbers.apply(Op::math_hypot, {real, imag}, DType::float64);
    numbers.need_no_error(out, real, imag);
    return numbers.settled(out, "absolute value too large");
  }
  if (operand.type.kind == OperandType::Kind::py_float) {
    ACCEL_TRY(ValueId v, numbers.as_real(operand.ref));
    return capture.values().scalar(numbers.apply(Op::absolute, {v}, DType::float64));
  }
  ACCEL_TRY(ValueId v, numbers.as_integer(operand.ref));
  ValueId out = numbers.apply(Op::absolute, {v}, DType::int64);
  if (operand.type.kind == OperandType::Kind::py_int) numbers.need(numbers.test(Op::greater_equal, out, numbers.integer(0)));
  return numbers.settled(out, "an int beyond int64");
}

// NumPy's complex scalars call hypot of the C library and report no events.
Result<Ref> absolute_complex_scalar(Capture& capture, const Ref& scalar, DType dtype) {
  ACCEL_TRY(ValueId v, capture.values().scalar_value(scalar));
  Builder& build = capture.build();
  return capture.values().scalar(
      build.pointwise(Op::math_hypot, {build.real(v), build.imag(v)}, {part_dtype(dtype)}, ValueKind::numpy_scalar));
}

}  // namespace

Result<Ref> capture_abs(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  if (value->kind == AbstractKind::constant && is_plain_constant(value->object.get()))
    return fold_call(capture, callable, arguments);
  if (value->kind == AbstractKind::scalar && value->scalar.dim && !capture.facts().is_runtime(*value->scalar.dim)) {
    DimTable& dims = capture.dims();
    Dim d = *value->scalar.dim, zero = dims.constant(0);
    if (capture.facts().decide(d, Comparison::ge, zero))
      return value->scalar.kind == ValueKind::numpy_scalar ? another_number(capture, value) : value;
    if (capture.ranges().fits(d)) return capture.values().dim_scalar(dims.sub(zero, d), value->scalar.kind);
  }
  auto operand = as_operand(capture, value);
  if (!operand) return fail(Reason::unsupported_argument, "abs of this object");
  if (is_python_number(*operand)) return absolute_number(capture, *operand);
  DType dtype = operand->type.dtype;
  std::optional<EventCall> events;
  if (!operand->is_array()) events.emplace(capture, dtype_kind(dtype) == 'i' ? "scalar absolute" : "");
  if (!operand->is_array() && dtype_kind(dtype) == 'c') return absolute_complex_scalar(capture, value, dtype);
  if (!operand->is_array() && reports_overflow(Op::absolute, dtype)) {
    ACCEL_TRY(ValueId v, capture.values().scalar_value(value));
    report_overflow(capture, Op::absolute, {v}, dtype);
  }
  return call_ufunc(capture, "absolute", {value});
}

Result<Ref> capture_max(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return extreme(capture, callable, arguments, true);
}

Result<Ref> capture_min(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return extreme(capture, callable, arguments, false);
}

namespace {

Result<Ref> sum_of(Capture& capture, Ref total, const std::vector<Ref>& items) {
  for (size_t i = 0; i < items.size();) {
    PyTypeObject* type = capture.values().type_of(total);
    if (type == &PyComplex_Type)
      return fail(Reason::unsupported_argument, "sum of Python complex numbers; plain form: a loop that adds them");
    if (type == &PyFloat_Type && sum_compensates()) {
      size_t before = i;
      ACCEL_TRY(total, sum_floats(capture, total, items, i));
      if (i != before) continue;
    }
    ACCEL_TRY(total, binary_operation(capture, NB_ADD, false, total, items[i]));
    ++i;
  }
  return total;
}

}  // namespace

Result<Ref> capture_sum(Capture& capture, PyObject*, const CallArguments& arguments) {
  if (arguments.positional.empty() || arguments.positional.size() > 2) return fail(Reason::unsupported_argument, "sum");
  Ref total = arguments.positional.size() == 2 ? arguments.positional[1] : keyword(arguments, "start");
  if (!total) total = capture.values().python_int(0);
  const Ref start = total;
  std::vector<Ref> numbers;
  ACCEL_TRY([[maybe_unused]] Unit added, for_each_item(capture, arguments.positional[0], [&](const Ref& item) -> Status {
              capture.resolver().look(item);
              numbers.push_back(item);
              if (item->kind == AbstractKind::scalar || item->kind == AbstractKind::constant) return Unit{};
              // Making the next item may change this one.
              ACCEL_TRY(total, sum_of(capture, total, numbers));
              numbers.clear();
              return Unit{};
            }));
  ACCEL_TRY(total, sum_of(capture, total, numbers));
  const PyTypeObject* type = total == start ? capture.values().type_of(total) : nullptr;
  return type == &PyLong_Type || type == &PyFloat_Type ? another_number(capture, total) : total;
}

Result<Ref> capture_math_prod(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  Ref total = capture.values().python_int(1);
  for (const Ref& item : items) {
    ACCEL_TRY(total, binary_operation(capture, NB_MULTIPLY, false, total, item));
  }
  return total;
}

// round(x): the nearest int, ties to even.
Result<Ref> capture_round(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) return fold_call(capture, callable, arguments);
  const Ref& value = arguments.positional[0];
  auto operand = as_operand(capture, value);
  if (!operand || operand->is_array()) return fail(Reason::unsupported_argument, "round of this object");
  if (value->kind == AbstractKind::constant) return fold_call(capture, callable, arguments);
  char kind = dtype_kind(operand->type.dtype);
  if (kind != 'f' && kind != 'i' && kind != 'u') return fail(Reason::unsupported_argument, "round of this number");
  if (kind != 'f') return python_integer(capture, value);
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, numbers.as_real(value));
  ValueId out = numbers.integer_of(numbers.apply(Op::rint, {v}, DType::float64));
  return numbers.settled(out, "no int64");
}

Result<Ref> capture_pow(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  if (arguments.positional.size() != 2 || !arguments.keywords.empty()) return fold_call(capture, callable, arguments);
  return binary_operation(capture, NB_POWER, false, arguments.positional[0], arguments.positional[1]);
}

Result<Ref> capture_divmod(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 2, 2));
  const Ref &left = arguments.positional[0], &right = arguments.positional[1];
  if (capture.constants().is_constant(left) && capture.constants().is_constant(right))
    return fold_call(capture, callable, arguments);
  auto l = as_operand(capture, left), r = as_operand(capture, right);
  if (!l || !r) return fail(Reason::unsupported_argument, "divmod of these objects");
  bool dims = known_dim(capture, left) && known_dim(capture, right);
  if (is_python_number(*l) && is_python_number(*r) && !dims) return python_divmod(capture, *l, *r);
  if (l->is_array() || r->is_array()) return call_ufunc(capture, "divmod", {left, right});
  ACCEL_TRY(Ref quotient, binary_operation(capture, NB_FLOOR_DIVIDE, false, left, right));
  ACCEL_TRY(Ref remainder, binary_operation(capture, NB_REMAINDER, false, left, right));
  return capture.values().tuple({quotient, remainder});
}

// conjugate() of Python numbers.
Result<Ref> capture_conjugate(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  auto operand = as_operand(capture, value);
  if (!operand || value->kind == AbstractKind::constant || !is_python_number(*operand))
    return fold_call(capture, callable, arguments);
  if (dtype_kind(operand->type.dtype) == 'f') return value;
  if (operand->type.kind != OperandType::Kind::py_complex) return python_integer(capture, value);
  ACCEL_TRY(ValueId v, capture.values().scalar_value(value));
  return capture.values().scalar(PythonNumbers(capture).apply(Op::conjugate, {v}, DType::complex128));
}

namespace {

// The absolute value of a run-time int; no_value for constants, for which CPython can be called at capture.
Result<ValueId> size_of_int(Capture& capture, PythonNumbers& numbers, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  if (value->kind != AbstractKind::scalar || value->scalar.kind != ValueKind::py_scalar) return no_value;
  ACCEL_TRY(ValueId v, numbers.as_integer(value));
  numbers.need(numbers.test(Op::not_equal, v, numbers.integer(std::numeric_limits<int64_t>::min())));
  ACCEL_TRY([[maybe_unused]] Unit done, numbers.settle("an int beyond int64"));
  return numbers.apply(Op::absolute, {v}, DType::int64);
}

}  // namespace

// int.bit_length(), by bisection of the remaining bits.
Result<Ref> capture_bit_length(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId rest, size_of_int(capture, numbers, arguments));
  if (rest == no_value) return fold_call(capture, callable, arguments);
  auto integer = [&](Op op, ValueId a, ValueId b) { return numbers.apply(op, {a, b}, DType::int64); };
  ValueId length = numbers.integer(0);
  for (int bits : {32, 16, 8, 4, 2, 1}) {
    ValueId above = numbers.test(Op::greater_equal, rest, numbers.integer(int64_t{1} << bits));
    ValueId shift = numbers.select(above, numbers.integer(bits), numbers.integer(0));
    length = integer(Op::add, length, shift);
    rest = integer(Op::right_shift, rest, shift);
  }
  return capture.values().scalar(integer(Op::add, length, rest));
}

// int.bit_count(): adds bits in fields of 2, 4 and 8 bits, then all bytes.
Result<Ref> capture_bit_count(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId x, size_of_int(capture, numbers, arguments));
  if (x == no_value) return fold_call(capture, callable, arguments);
  auto integer = [&](Op op, ValueId a, ValueId b) { return numbers.apply(op, {a, b}, DType::int64); };
  auto masked = [&](ValueId v, int64_t mask) { return integer(Op::bitwise_and, v, numbers.integer(mask)); };
  auto shifted = [&](ValueId v, int bits) { return integer(Op::right_shift, v, numbers.integer(bits)); };
  x = integer(Op::subtract, x, masked(shifted(x, 1), 0x5555555555555555));
  x = integer(Op::add, masked(x, 0x3333333333333333), masked(shifted(x, 2), 0x3333333333333333));
  x = masked(integer(Op::add, x, shifted(x, 4)), 0x0f0f0f0f0f0f0f0f);
  return capture.values().scalar(shifted(integer(Op::multiply, x, numbers.integer(0x0101010101010101)), 56));
}

Result<Ref> capture_is_integer(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  auto operand = as_operand(capture, value);
  if (!operand || value->kind == AbstractKind::constant || operand->is_array() || dtype_kind(operand->type.dtype) != 'f')
    return fold_call(capture, callable, arguments);
  PythonNumbers numbers(capture);
  ACCEL_TRY(ValueId v, numbers.as_real(value));
  ValueId whole = numbers.test(Op::equal, numbers.apply(Op::floor, {v}, DType::float64), v);
  return capture.values().scalar(numbers.both(whole, numbers.apply(Op::isfinite, {v}, DType::bool_)));
}

Result<Ref> capture_index(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 1, 1));
  const Ref& value = arguments.positional[0];
  char kind = value->kind == AbstractKind::scalar ? dtype_kind(value->scalar.dtype) : ' ';
  if (kind == 'i') return python_integer(capture, value);
  bool number =
      value->kind == AbstractKind::scalar && dtype_kind(value->scalar.dtype) != 'f' && dtype_kind(value->scalar.dtype) != 'c';
  bool array = value->kind == AbstractKind::array && value->array.layout.shape.empty();
  bool object = value->kind == AbstractKind::object || value->kind == AbstractKind::instance;
  if (number || array || object) return fail(Reason::unsupported_argument, "an index of this object");
  if (value->kind != AbstractKind::constant) return capture.raised(PyExc_TypeError, "the object is no integer");
  return fold_call(capture, callable, arguments);
}

}  // namespace accel
