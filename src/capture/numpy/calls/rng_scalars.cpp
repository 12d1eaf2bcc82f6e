// Random numbers that the kernel draws itself through NumPy's C functions.

#include <cmath>

#include "capture/numpy/calls/callbacks.h"
#include "capture/numpy/calls/random.h"
#include "capture/product/rng_functions.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/operations.h"
#include "capture/python/numbers/scalar_expressions.h"

namespace accel {

const std::vector<DrawInfo>& draw_infos() {
  static const std::vector<DrawInfo> infos = {
#define DRAW(method, result, operands, function, ...) {#method, DType::result, DType::operands, #function, {__VA_ARGS__}},
#include "capture/product/rng_functions.inc"
#undef DRAW
  };
  return infos;
}

int find_draw(std::string_view method) {
  const std::vector<DrawInfo>& infos = draw_infos();
  for (size_t k = 0; k < infos.size(); ++k) {
    if (method == infos[k].method) return static_cast<int>(k);
  }
  return -1;
}

namespace {

bool is_within(Limit limit, double x) {
  switch (limit) {
    case Limit::none:
      return true;
    case Limit::non_negative:
      return !std::signbit(x);
    case Limit::positive:
      return x > 0;
    case Limit::positive_share:
      return x > 0 && x <= 1;
    case Limit::proper_share:
      return x >= 0 && x < 1;
    case Limit::above_one:
      return x > 1;
    case Limit::rate:
      return x >= 0 && x <= 1e18;
  }
  return false;
}

// The value of a constant number as a float.
std::optional<double> known_real(const Ref& ref) {
  if (ref->kind != AbstractKind::constant) return std::nullopt;
  double value = PyFloat_AsDouble(ref->object.get());
  if (value != -1.0 || !PyErr_Occurred()) return value;
  PyErr_Clear();
  return std::nullopt;
}

// The arguments of one draw as values, and the conditions on them.
class Draw {
 public:
  Draw(Capture& capture, const DrawInfo& info, const Given& given)
      : capture_(capture), info_(info), given_(given), numbers_(capture) {}

  // Reads the arguments. False: NumPy may reject them, so the method has to be called.
  Result<bool> read() {
    if (!is_none(given_["size"]) || !is_none(given_["method"])) return false;
    if (given_.has("dtype")) {
      ACCEL_TRY(auto dtype, read_dtype(capture_, given_["dtype"]));
      if (given_["dtype"] && dtype != info_.result) return false;
    }
    if (info_.operands == DType::int64) return read_range();
    for (const DrawParameter& parameter : info_.parameters) {
      ACCEL_TRY(bool taken, read_real(parameter));
      if (!taken) return false;
    }
    return check_order();
  }

  // The equivalent call of the method with these values. Called before the instruction has any effect.
  Result<BoxedArguments> arguments(PyObject* callable, const Ref& self) {
    ACCEL_TRY([[maybe_unused]] Unit settled, numbers_.settle("an argument that the method may not take"));
    CallArguments made;
    made.positional.push_back(self);
    for (ValueId value : values_) made.positional.push_back(capture_.values().scalar(value));
    if (info_.operands == DType::int64) {
      if (is_closed()) made.keywords.emplace_back("endpoint", capture_.values().constant(Py_True));
      if (given_["dtype"]) made.keywords.emplace_back("dtype", given_["dtype"]);
    }
    return boxed_arguments(capture_, callable, made);
  }

 private:
  bool is_number(const Ref& ref, const char* kinds) {
    auto operand = ref->kind == AbstractKind::array ? std::nullopt : as_operand(capture_, ref);
    return operand && !operand->is_array() &&
           std::string_view(kinds).find(dtype_kind(operand->type.dtype)) != std::string::npos;
  }

  Result<bool> read_real(const DrawParameter& parameter) {
    Ref ref = given_[parameter.name];
    if (!ref && !parameter.when_missing) return false;
    if (!ref) ref = capture_.values().constant(PyRef::steal(PyFloat_FromDouble(*parameter.when_missing)).get());
    if (!is_number(ref, "biuf")) return false;
    std::optional<double> known = known_real(ref);
    if (ref->kind == AbstractKind::constant && (!known || !is_within(parameter.limit, *known))) return false;
    ACCEL_TRY(ValueId value, numbers_.as_real(ref));
    values_.push_back(value);
    known_.push_back(known);
    if (!known) need(parameter.limit, value);
    return true;
  }

  ValueId is_at_least(ValueId x, double bound) { return numbers_.test(Op::greater_equal, x, numbers_.real(bound)); }
  ValueId is_above(ValueId x, double bound) { return numbers_.test(Op::greater, x, numbers_.real(bound)); }
  ValueId is_positive(ValueId x) { return numbers_.negated(numbers_.apply(Op::signbit, {x}, DType::bool_)); }

  void need(Limit limit, ValueId x) {
    switch (limit) {
      case Limit::none:
        return;
      case Limit::non_negative:
        return numbers_.need(is_positive(x));
      case Limit::positive:
        return numbers_.need(is_above(x, 0));
      case Limit::positive_share:
        return numbers_.need(numbers_.both(is_above(x, 0), numbers_.test(Op::less_equal, x, numbers_.real(1))));
      case Limit::proper_share:
        return numbers_.need(numbers_.both(is_at_least(x, 0), numbers_.test(Op::less, x, numbers_.real(1))));
      case Limit::above_one:
        return numbers_.need(is_above(x, 1));
      case Limit::rate:
        return numbers_.need(numbers_.both(is_at_least(x, 0), numbers_.test(Op::less_equal, x, numbers_.real(1e18))));
    }
  }

  // Conditions of uniform() and triangular() that involve several arguments. False: they are known not to hold.
  bool check_order() {
    std::string_view method = info_.method;
    bool known = true;
    for (const std::optional<double>& value : known_) known = known && value;
    if (method == "uniform" && known) {
      double range = *known_[1] - *known_[0];
      return std::isfinite(range) && !std::signbit(range);
    }
    if (method == "triangular" && known) return *known_[0] <= *known_[1] && *known_[1] <= *known_[2] && *known_[0] < *known_[2];
    if (method == "uniform") {
      ValueId range = numbers_.apply(Op::subtract, {values_[1], values_[0]}, DType::float64);
      numbers_.need(numbers_.both(is_positive(range), numbers_.apply(Op::isfinite, {range}, DType::bool_)));
    }
    if (method == "triangular") {
      numbers_.need(numbers_.test(Op::less_equal, values_[0], values_[1]));
      numbers_.need(numbers_.test(Op::less_equal, values_[1], values_[2]));
      numbers_.need(numbers_.test(Op::less, values_[0], values_[2]));
    }
    return true;
  }

  // Whether the C function's range includes both ends.
  bool is_closed() const { return info_.method != std::string_view("randint"); }

  // integers() and randint()
  Result<bool> read_range() {
    ACCEL_TRY(bool closed, read_flag(capture_, given_["endpoint"], false));
    Ref low = given_["low"], high = given_["high"];
    bool one = is_none(high);
    if (one) high = low, low = capture_.values().dim_scalar(capture_.dims().constant(0), ValueKind::py_scalar);
    for (const Ref& end : {low, high}) {
      if (!end || !is_number(end, "bi")) return false;
    }
    std::optional<Dim> known_low = known_dim(capture_, low), known_high = known_dim(capture_, high);
    bool known = known_low && known_high;
    if (known && !is_range(*known_low, *known_high, closed)) return false;
    ACCEL_TRY(ValueId from, numbers_.as_integer(low));
    ACCEL_TRY(ValueId to, numbers_.as_integer(high));
    if (!known) numbers_.need(numbers_.test(closed ? Op::less_equal : Op::less, from, to));
    if (!closed && is_closed()) to = numbers_.apply(Op::subtract, {to, numbers_.integer(1)}, DType::int64);
    values_ = {from, to};
    return true;
  }

  bool is_range(Dim low, Dim high, bool closed) {
    std::optional<int64_t> first = capture_.dims().as_constant(low), last = capture_.dims().as_constant(high);
    if (first && last) return closed ? *first <= *last : *first < *last;
    return capture_.facts().decide(low, closed ? Comparison::le : Comparison::lt, high);
  }

  Capture& capture_;
  const DrawInfo& info_;
  const Given& given_;
  PythonNumbers numbers_;
  std::vector<ValueId> values_;
  std::vector<std::optional<double>> known_;
};

}  // namespace

Result<std::optional<Ref>> drawn_number(Capture& capture, PyObject* callable, const char* method, const Given& given,
                                        ValueKind kind, bool legacy) {
  int row = find_draw(method);
  if (row < 0) return std::optional<Ref>();
  const DrawInfo& info = draw_infos()[static_cast<size_t>(row)];
  Draw draw(capture, info, given);
  ACCEL_TRY(bool taken, draw.read());
  if (!taken) return std::optional<Ref>();
  ACCEL_TRY(BoxedArguments made, draw.arguments(callable, given.values[0]));
  made.call.generator = 0;
  made.call.legacy = legacy;
  made.call.draw = row;
  made.call.results.push_back({kind, info.result, {}, {}});
  capture.note_effect(true);
  auto number = static_cast<int>(capture.calls().size());
  capture.calls().push_back(std::move(made.call));
  return std::optional(
      capture.values().scalar(capture.build().draw(number, std::move(made.operands), {kind, info.result, {}, {}})));
}

}  // namespace accel
