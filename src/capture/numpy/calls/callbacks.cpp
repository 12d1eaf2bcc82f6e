#include "capture/numpy/calls/callbacks.h"

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/context/quiet_calls.h"
#include "capture/domain/repr.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "ndarray/array.h"

namespace accel {

namespace {

constexpr int64_t sample_extent = 2;
constexpr int64_t largest_sample = 4096;  // elements

class Arguments {
 public:
  explicit Arguments(Capture& capture) : capture_(capture) {}

  Result<BoxedArguments> read(PyObject* callable, const CallArguments& arguments) {
    out_.call.callable = PyRef::borrow(callable);
    for (const Ref& argument : arguments.positional) {
      ACCEL_TRY(CallPart made, part(argument));
      out_.call.arguments.push_back(std::move(made));
    }
    if (!arguments.keywords.empty()) {
      out_.call.keywords = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(arguments.keywords.size())));
      Py_ssize_t at = 0;
      for (const auto& [name, argument] : arguments.keywords) {
        ACCEL_TRY(CallPart made, part(argument));
        out_.call.arguments.push_back(std::move(made));
        PyTuple_SET_ITEM(out_.call.keywords.get(), at++, PyUnicode_InternFromString(name.c_str()));
      }
    }
    return std::move(out_);
  }

 private:
  Result<CallPart> part(const Ref& ref) {
    const Descent level;
    CallPart out;
    switch (ref->kind) {
      case AbstractKind::constant:
        out.object = ref->object;
        return out;
      case AbstractKind::array:
        return operand(capture_.memory().read(ref));
      case AbstractKind::scalar: {
        ACCEL_TRY(ValueId value, capture_.values().scalar_value(ref));
        return operand(value);
      }
      case AbstractKind::object:
        if (ref->source < 0) break;
        out.kind = CallPart::Kind::source;
        out.source = ref->source;
        return out;
      case AbstractKind::tuple:
      case AbstractKind::list:
        out.kind = ref->kind == AbstractKind::tuple ? CallPart::Kind::tuple : CallPart::Kind::list;
        for (const Ref& item : ref->items) {
          ACCEL_TRY(CallPart made, part(item));
          out.items.push_back(std::move(made));
        }
        return out;
      default:
        break;
    }
    return fail(Reason::unsupported_argument, "an argument of this kind");
  }

  CallPart operand(ValueId value) {
    CallPart out;
    out.kind = CallPart::Kind::operand;
    out.operand = static_cast<int>(out_.operands.size());
    out_.operands.push_back(value);
    out_.call.operands.push_back(capture_.graph().type(value));
    return out;
  }

  Capture& capture_;
  BoxedArguments out_;
};

// Calls the callable with operands of the call's types, and of its shapes if these are small, to learn its results.
class Sample {
 public:
  Sample(Capture& capture, const BoxedArguments& arguments)
      : capture_(capture), arguments_(arguments), is_small_(is_small(capture, arguments)) {}

  // The result; null, with a pending exception, if the callable raises.
  PyRef run() {
    const BoxedCall& call = arguments_.call;
    std::vector<PyRef> owned;
    std::vector<PyObject*> objects;
    for (const CallPart& each : call.arguments) {
      owned.push_back(part(each));
      if (!owned.back()) return {};
      objects.push_back(owned.back().get());
    }
    size_t named = call.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(call.keywords.get())) : 0;
    return PyRef::steal(PyObject_Vectorcall(call.callable.get(), objects.data(), objects.size() - named, call.keywords.get()));
  }

 private:
  PyRef part(const CallPart& part) {
    if (part.kind == CallPart::Kind::constant) return part.object;
    if (part.kind == CallPart::Kind::operand) return operand(arguments_.operands[static_cast<size_t>(part.operand)]);
    if (part.kind == CallPart::Kind::source) {
      PyErr_SetString(PyExc_TypeError, "an object of the call");
      return {};
    }
    PyRef list = PyRef::steal(PyList_New(0));
    for (const CallPart& item : part.items) {
      PyRef made = this->part(item);
      if (!list || !made || PyList_Append(list.get(), made.get()) < 0) return {};
    }
    return part.kind == CallPart::Kind::list || !list ? list : PyRef::steal(PyList_AsTuple(list.get()));
  }

  PyRef operand(ValueId value) {
    const Type& type = capture_.graph().type(value);
    if (type.kind == ValueKind::array) {
      std::vector<int64_t> shape;
      for (Dim d : type.shape) shape.push_back(is_small_ ? capture_.ranges().hint(d) : sample_extent);
      PyRef made = PyRef::steal(new_array(type.dtype, shape, {}));
      PyRef none = PyRef::steal(made ? PyObject_CallMethod(made.get(), "fill", "i", 0) : nullptr);
      return none ? made : PyRef();
    }
    const Node* node = capture_.graph().is_input(value) ? nullptr : &capture_.graph().producer(value);
    Literal literal = Literal::of_int(DType::int64, 1);
    if (node != nullptr && node->op == Op::dim)
      literal = Literal::of_int(DType::int64, capture_.ranges().hint(node->attrs.dims[0]));
    if (node != nullptr && node->op == Op::constant) literal = node->attrs.literal;
    PyRef number = PyRef::steal(new_numpy_scalar(literal.dtype, literal.bits));
    uint64_t bits[2] = {0, 0};
    if (!number || !read_scalar(number.get(), type.dtype, bits)) return {};
    bool python = type.kind == ValueKind::py_scalar;
    return PyRef::steal(python ? new_python_scalar(type.dtype, bits) : new_numpy_scalar(type.dtype, bits));
  }

  static bool is_small(Capture& capture, const BoxedArguments& arguments) {
    return std::all_of(arguments.operands.begin(), arguments.operands.end(), [&](ValueId value) {
      return capture.ranges().hint(element_count(capture, capture.graph().type(value).shape)) <= largest_sample;
    });
  }

  Capture& capture_;
  const BoxedArguments& arguments_;
  bool is_small_;
};

std::optional<BoxedResult> result_of(PyObject* object) {
  BoxedResult out;
  if (is_exact_array(object)) {
    ArrayFacts facts = array_facts(object);
    if (!facts.dtype) return std::nullopt;
    out.dtype = *facts.dtype;
    out.shape.resize(static_cast<size_t>(facts.ndim));
    return out;
  }
  std::optional<DType> dtype;
  if (is_numpy_scalar(object)) {
    out.kind = ValueKind::numpy_scalar;
    dtype = dtype_of_scalar(object);
  } else {
    out.kind = ValueKind::py_scalar;
    for (DType each : {DType::bool_, DType::int64, DType::float64, DType::complex128}) {
      if (Py_IS_TYPE(object, python_type_of(each))) dtype = each;
    }
  }
  if (dtype) out.dtype = *dtype;
  return dtype ? std::optional(out) : std::nullopt;
}

}  // namespace

Result<BoxedArguments> boxed_arguments(Capture& capture, PyObject* callable, const CallArguments& arguments) {
  return Arguments(capture).read(callable, arguments);
}

Result<std::vector<BoxedResult>> sampled_results(Capture& capture, const BoxedArguments& arguments) {
  WarningsAsErrors errors;
  PyRef answer = Sample(capture, arguments).run();
  if (!answer) {
    bool warns = PyErr_ExceptionMatches(PyExc_Warning);
    PyErr_Clear();
    // The call needs an interpreter frame, because the warning names its line.
    if (warns) return fail(Reason::will_warn, short_repr(arguments.call.callable.get()));
    return fail(Reason::unsupported_argument, short_repr(arguments.call.callable.get()) + " of these arguments");
  }
  std::vector<BoxedResult> out;
  bool tuple = PyTuple_CheckExact(answer.get());
  for (Py_ssize_t k = 0; k < (tuple ? PyTuple_GET_SIZE(answer.get()) : 1); ++k) {
    std::optional<BoxedResult> result = result_of(tuple ? PyTuple_GET_ITEM(answer.get(), k) : answer.get());
    if (!result) return fail(Reason::unsupported_dtype, "a result of " + short_repr(arguments.call.callable.get()));
    out.push_back(std::move(*result));
  }
  return out;
}

std::vector<Ref> boxed_call(Capture& capture, BoxedArguments arguments, const std::vector<BoxedResult>& results) {
  Builder& build = capture.build();
  auto number = static_cast<int>(capture.calls().size());
  BoxedCall& call = arguments.call;
  for (const BoxedResult& result : results) {
    std::vector<Dim> shape(result.shape.size(), capture.dims().constant(0));  // only the rank is used
    call.results.push_back({result.kind, result.dtype, std::move(shape), result.order});
  }
  capture.calls().push_back(std::move(call));
  ValueId made = build.call(number, std::move(arguments.operands));
  std::vector<Ref> out;
  for (size_t k = 0; k < results.size(); ++k) {
    const BoxedResult& result = results[k];
    Type type{result.kind, result.dtype, {}, result.order};
    for (size_t axis = 0; axis < result.shape.size(); ++axis) {
      if (result.shape[axis]) {
        type.shape.push_back(*result.shape[axis]);
        continue;
      }
      ValueId extent = build.extent(made, static_cast<int>(k), static_cast<int>(axis));
      type.shape.push_back(capture.facts().bind_dim(extent, "extent", result.hint, 0, most_elements));
    }
    ValueId value = build.received(made, static_cast<int>(k), std::move(type));
    out.push_back(result.kind == ValueKind::array ? capture.values().fresh_array(value) : capture.values().scalar(value));
  }
  return out;
}

Result<Ref> call_of_shape(Capture& capture, PyObject* callable, const CallArguments& arguments, const std::vector<Dim>& shape,
                          std::vector<uint8_t> order) {
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  return call_of_shape(capture, std::move(made), shape, std::move(order));
}

Result<Ref> call_of_shape(Capture& capture, BoxedArguments made, const std::vector<Dim>& shape, std::vector<uint8_t> order) {
  ACCEL_TRY(std::vector<BoxedResult> results, sampled_results(capture, made));
  if (results.size() != 1 || results[0].shape.size() != shape.size())
    return fail(Reason::unsupported_argument, "the result of " + short_repr(made.call.callable.get()));
  results[0].shape.assign(shape.begin(), shape.end());
  results[0].order = std::move(order);
  return boxed_call(capture, std::move(made), results)[0];
}

Result<Ref> call_of_positions(Capture& capture, PyObject* callable, const CallArguments& arguments,
                              const std::vector<Dim>& shape, DeviceForm form) {
  ACCEL_TRY(BoxedArguments made, boxed_arguments(capture, callable, arguments));
  made.call.device_form = std::move(form);
  BoxedResult result{ValueKind::array, DType::int64, {shape.begin(), shape.end()}, {}};
  return boxed_call(capture, std::move(made), {result})[0];
}

Result<Ref> array_of_rank(const Ref& ref, size_t least, const char* what) {
  if (ref->kind == AbstractKind::array && layout_of(ref).shape.size() >= least) return ref;
  return fail(Reason::unsupported_value, what);
}

}  // namespace accel
