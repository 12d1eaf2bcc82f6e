#include "capture/numpy/calls/random.h"

#include <algorithm>
#include <unordered_map>

#include "capture/domain/random_generators.h"
#include "capture/domain/repr.h"
#include "capture/numpy/calls/callbacks.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"

namespace accel {

Ref Given::operator[](const char* name) const {
  auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : values[static_cast<size_t>(found - names.begin())];
}

bool Given::has(const char* name) const { return std::find(names.begin(), names.end(), name) != names.end(); }

namespace {

// What a method draws. extents: reals whose shape is given as positional arguments.
enum class Draws : uint8_t { reals, extents, counts, integers, choice, permutation, permuted, shuffle };

struct Method {
  const char* name;
  Draws draws;
  const char* draw = nullptr;  // row of rng_functions.inc if it differs from the method's name
  bool legacy = false;         // of RandomState
  bool keeps_gauss = true;     // of RandomState: leaves the stored second normal number unchanged
};

constexpr Method methods[] = {
    {"beta", Draws::reals},
    {"binomial", Draws::counts},
    {"chisquare", Draws::reals},
    {"choice", Draws::choice},
    {"exponential", Draws::reals},
    {"f", Draws::reals},
    {"gamma", Draws::reals},
    {"geometric", Draws::counts},
    {"gumbel", Draws::reals},
    {"hypergeometric", Draws::counts},
    {"integers", Draws::integers},
    {"laplace", Draws::reals},
    {"logistic", Draws::reals},
    {"lognormal", Draws::reals},
    {"logseries", Draws::counts},
    {"negative_binomial", Draws::counts},
    {"noncentral_chisquare", Draws::reals},
    {"noncentral_f", Draws::reals},
    {"normal", Draws::reals},
    {"pareto", Draws::reals},
    {"permutation", Draws::permutation},
    {"permuted", Draws::permuted},
    {"poisson", Draws::counts},
    {"power", Draws::reals},
    {"random", Draws::reals},
    {"rayleigh", Draws::reals},
    {"shuffle", Draws::shuffle},
    {"standard_cauchy", Draws::reals},
    {"standard_exponential", Draws::reals},
    {"standard_gamma", Draws::reals},
    {"standard_normal", Draws::reals},
    {"standard_t", Draws::reals},
    {"triangular", Draws::reals},
    {"uniform", Draws::reals},
    {"vonmises", Draws::reals},
    {"wald", Draws::reals},
    {"weibull", Draws::reals},
    {"zipf", Draws::counts},
};

// Methods of RandomState, hence of numpy.random itself. Their numbers differ from a Generator's except where a row names a
// draw.
constexpr const char* no_draw = "";
constexpr Method legacy_methods[] = {
    {"beta", Draws::reals, no_draw, true, false},
    {"binomial", Draws::counts, no_draw, true, false},
    {"chisquare", Draws::reals, no_draw, true, false},
    {"choice", Draws::choice, no_draw, true},
    {"exponential", Draws::reals, no_draw, true},
    {"gamma", Draws::reals, no_draw, true, false},
    {"geometric", Draws::counts, no_draw, true, false},
    {"gumbel", Draws::reals, no_draw, true, false},
    {"laplace", Draws::reals, no_draw, true, false},
    {"logistic", Draws::reals, no_draw, true, false},
    {"lognormal", Draws::reals, no_draw, true, false},
    {"normal", Draws::reals, no_draw, true, false},
    {"pareto", Draws::reals, no_draw, true, false},
    {"permutation", Draws::permutation, no_draw, true},
    {"poisson", Draws::counts, no_draw, true, false},
    {"rand", Draws::extents, "random", true},
    {"randint", Draws::integers, "randint", true},
    {"randn", Draws::extents, no_draw, true, false},
    {"random", Draws::reals, "random", true},
    {"random_sample", Draws::reals, "random", true},
    {"rayleigh", Draws::reals, no_draw, true, false},
    {"shuffle", Draws::shuffle, no_draw, true},
    {"standard_exponential", Draws::reals, no_draw, true},
    {"standard_normal", Draws::reals, no_draw, true, false},
    {"standard_t", Draws::reals, no_draw, true, false},
    {"triangular", Draws::reals, no_draw, true, false},
    {"uniform", Draws::reals, "uniform", true},
    {"weibull", Draws::reals, no_draw, true, false},
};

// Methods by identity. They live as long as their classes.
const std::unordered_map<PyObject*, const Method*>& known_methods() {
  static const std::unordered_map<PyObject*, const Method*> known = [] {
    std::unordered_map<PyObject*, const Method*> out;
    auto add = [&](PyObject* type, const Method& method) {
      PyObject* found = PyObject_GetAttrString(type, method.name);
      found != nullptr ? void(out.emplace(found, &method)) : PyErr_Clear();
    };
    for (const Method& method : methods) add(generator_type(), method);
    for (const Method& method : legacy_methods) add(random_state_type(), method);
    return out;
  }();
  return known;
}

Result<Given> given_arguments(PyObject* callable, const CallArguments& arguments) {
  PyRef code = PyRef::steal(PyObject_GetAttrString(callable, "__code__"));
  if (!code || !PyCode_Check(code.get())) {
    PyErr_Clear();
    return fail(Reason::unsupported_call, short_repr(callable));
  }
  auto* facts = reinterpret_cast<PyCodeObject*>(code.get());
  PyRef variables = PyRef::steal(PyObject_GetAttrString(code.get(), "co_varnames"));
  Given given;
  for (int k = 0; k < facts->co_argcount + facts->co_kwonlyargcount; ++k)
    given.names.push_back(utf8(PyTuple_GET_ITEM(variables.get(), k)));
  Signature signature;
  for (const std::string& name : given.names) signature.names.push_back(name.c_str());
  signature.required = 1;
  signature.keyword_only = static_cast<size_t>(facts->co_argcount);
  ACCEL_TRY(given.values, bind_arguments(arguments, signature));
  if (!is_none(given["out"]))
    return fail(Reason::unsupported_argument, "out; plain form: out[...] = the call with size=out.shape and dtype=out.dtype");
  return given;
}

// The shape of the result; empty for a number.
Result<std::vector<Dim>> drawn_shape(Capture& capture, const Given& given) {
  if (!is_none(given["size"])) {
    ACCEL_TRY(std::vector<Dim> shape, read_shape(capture, given["size"]));
    if (shape.empty()) return fail(Reason::unsupported_argument, "size=(); plain form: numpy.asarray(the call without size)");
    return shape;
  }
  std::vector<std::vector<Dim>> shapes;
  for (size_t k = 1; k < given.names.size() && given.names[k] != "size"; ++k) {
    if (is_none(given.values[k])) continue;
    ACCEL_TRY(Operand operand, read_operand(capture, given.values[k]));
    shapes.push_back(operand.shape);
  }
  return shapes.empty() ? Result<std::vector<Dim>>(std::vector<Dim>()) : broadcast_shapes(capture, shapes);
}

BoxedResult array_of(DType dtype, const std::vector<Dim>& shape, std::vector<uint8_t> order = {}) {
  return {ValueKind::array, dtype, {shape.begin(), shape.end()}, std::move(order)};
}

// The result: an array of `dtype`, or one number.
Result<BoxedResult> drawn(Capture& capture, const Given& given, DType dtype, ValueKind kind, DType scalar) {
  ACCEL_TRY(std::vector<Dim> shape, drawn_shape(capture, given));
  return shape.empty() ? BoxedResult{kind, scalar, {}, {}} : array_of(dtype, shape);
}

Result<BoxedResult> drawn_reals(Capture& capture, const Given& given) {
  ACCEL_TRY(auto dtype, read_dtype(capture, given["dtype"]));
  return drawn(capture, given, dtype.value_or(DType::float64), ValueKind::py_scalar, DType::float64);
}

// rand(*extents), randn(*extents)
Result<BoxedResult> drawn_extents(Capture& capture, const CallArguments& arguments) {
  std::vector<Ref> extents(arguments.positional.begin() + 1, arguments.positional.end());
  if (extents.empty()) return BoxedResult{ValueKind::py_scalar, DType::float64, {}, {}};
  ACCEL_TRY(std::vector<Dim> shape, read_shape(capture, capture.values().tuple(std::move(extents))));
  return array_of(DType::float64, shape);
}

Result<BoxedResult> drawn_integers(Capture& capture, const Given& given, bool legacy) {
  ACCEL_TRY(auto dtype, read_dtype(capture, given["dtype"]));
  DType drawn_dtype = dtype.value_or(DType::int64);
  bool python = (legacy && !given["dtype"]) || is_object(given["dtype"], reinterpret_cast<PyObject*>(&PyLong_Type)) ||
                is_object(given["dtype"], reinterpret_cast<PyObject*>(&PyBool_Type));
  return drawn(capture, given, drawn_dtype, python ? ValueKind::py_scalar : ValueKind::numpy_scalar, drawn_dtype);
}

// choice(a, size=None, replace=True, p=None, axis=0, shuffle=True) from a one-dimensional array or from range(a).
Result<BoxedResult> chosen(Capture& capture, const Given& given) {
  ACCEL_TRY(Operand from, read_operand(capture, given["a"]));
  ACCEL_TRY(bool replace, read_flag(capture, given["replace"], true));
  std::vector<Dim> shape;
  if (!is_none(given["size"])) {
    ACCEL_TRY(shape, read_shape(capture, given["size"]));
    if (shape.empty()) return fail(Reason::unsupported_argument, "size=(); plain form: numpy.asarray(the call without size)");
  }
  bool is_number = !from.is_array();
  if (from.shape.size() != (is_number ? 0 : 1)) return fail(Reason::unsupported_argument, "choice from such an array");
  if (is_number && !replace) return fail(Reason::unsupported_argument, "choice of different numbers gives a view");
  if (!shape.empty()) return array_of(is_number ? DType::int64 : from.type.dtype, shape);
  if (is_number) return BoxedResult{ValueKind::py_scalar, DType::int64, {}, {}};
  return BoxedResult{ValueKind::numpy_scalar, from.type.dtype, {}, {}};
}

// permutation(x, axis=0) and permuted(x, axis=None)
Result<BoxedResult> permuted(Capture& capture, const Given& given, bool keeps_order) {
  const Ref& x = given["x"];
  if (x->kind != AbstractKind::array) {
    std::optional<Dim> count = keeps_order ? std::nullopt : known_dim(capture, x);
    if (!count) return fail(Reason::unsupported_argument, "a permutation of this object");
    ACCEL_TRY(std::vector<Dim> shape, read_shape(capture, x));
    return array_of(DType::int64, shape);
  }
  const StridedLayout& layout = layout_of(x);
  if (layout.shape.empty()) return fail(Reason::unsupported_argument, "a permutation of a number");
  return array_of(layout.dtype, layout.shape, keeps_order ? copy_order(capture, x) : std::vector<uint8_t>());
}

// Adds a call that advances the generator, after which the instruction cannot be repeated.
std::vector<Ref> draw(Capture& capture, const Method& method, BoxedArguments made, const BoxedResult& result) {
  made.call.generator = 0;
  made.call.legacy = method.legacy;
  made.call.keeps_gauss = method.keeps_gauss;
  capture.note_effect(true);
  return boxed_call(capture, std::move(made), {result});
}

Result<Ref> shuffle(Capture& capture, const Method& method, BoxedArguments made, const Ref& x) {
  if (x->kind != AbstractKind::array || layout_of(x).shape.empty())
    return fail(Reason::unsupported_argument, "shuffle of this");
  ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(x));
  made.call.changed = 0;
  made.call.drops_answer = true;
  const Type type = capture.graph().type(made.operands[0]);
  Ref changed = draw(capture, method, std::move(made), array_of(type.dtype, type.shape, type.order))[0];
  capture.memory().store(x, capture.memory().read(changed));
  return capture.values().constant(Py_None);
}

// An integer drawn from a known range, with facts about its bounds.
Ref in_range(Capture& capture, const Given& given, const Ref& number) {
  std::optional<Dim> low = capture.dims().constant(0), high = known_dim(capture, given["low"]);
  if (!is_none(given["high"])) low = high, high = known_dim(capture, given["high"]);
  bool plain = is_none(given["endpoint"]) && is_none(given["dtype"]) && number->kind == AbstractKind::scalar;
  if (!plain || !low || !high) return number;
  DimTable& dims = capture.dims();
  Dim drawn = capture.facts().bind_dim(number->scalar.value, "integer", capture.ranges().hint(*low), capture.ranges().low(*low),
                                       capture.ranges().high(*high));
  capture.facts().all().push_back(dims.sub(drawn, *low));
  capture.facts().all().push_back(dims.sub(dims.sub(*high, dims.constant(1)), drawn));
  return capture.values().dim_scalar(drawn, number->scalar.kind);
}

Result<BoxedResult> result_of(Capture& capture, const Method& method, const Given& given, const CallArguments& arguments) {
  switch (method.draws) {
    case Draws::reals:
      return drawn_reals(capture, given);
    case Draws::extents:
      return drawn_extents(capture, arguments);
    case Draws::counts:
      return drawn(capture, given, DType::int64, ValueKind::py_scalar, DType::int64);
    case Draws::integers:
      return drawn_integers(capture, given, method.legacy);
    case Draws::choice:
      return chosen(capture, given);
    default:
      return permuted(capture, given, method.draws == Draws::permuted);
  }
}

Result<Ref> generator_method(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  const Method& method = *known_methods().at(callable);
  if (arguments.positional.empty()) return fail(Reason::unsupported_call, short_repr(callable));
  const Ref& self = arguments.positional[0];
  bool global = self->kind == AbstractKind::constant, passed = self->kind == AbstractKind::object && self->source >= 0;
  if ((!global && !passed) || !is_generator(self->object.get())) return fail(Reason::unsupported_call, short_repr(callable));
  Given given{{"self"}, {self}};
  if (method.draws != Draws::extents) {
    ACCEL_TRY(given, given_arguments(callable, arguments));
  } else if (!arguments.keywords.empty()) {
    return fail(Reason::will_raise, "keywords of " + short_repr(callable));
  }
  if (method.draws == Draws::shuffle) {
    ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
    return shuffle(capture, method, std::move(made), given["x"]);
  }
  ACCEL_TRY(BoxedResult result, result_of(capture, method, given, arguments));
  std::optional<Ref> drawn;
  if (result.kind != ValueKind::array) {
    ACCEL_TRY(drawn,
              drawn_number(capture, callable, method.draw ? method.draw : method.name, given, result.kind, method.legacy));
  }
  if (!drawn) {
    ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
    drawn = draw(capture, method, std::move(made), result)[0];
  }
  return method.draws == Draws::integers ? in_range(capture, given, *drawn) : *drawn;
}

}  // namespace

Primitive generator_primitive(PyObject* callable) {
  if (generator_type() == nullptr || random_state_type() == nullptr) return nullptr;
  return known_methods().contains(callable) ? generator_method : nullptr;
}

}  // namespace accel
