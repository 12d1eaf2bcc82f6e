// Arithmetic on constants, symbolic integers and sequences. Operations with arrays are passed to the array operators.

#include <opcode.h>

#include <cmath>

#include "capture/context/quiet_calls.h"
#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/primitive.h"
#include "capture/python/containers/dynamic_lists.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

using BinaryFunction = PyObject* (*)(PyObject*, PyObject*);

PyObject* power(PyObject* left, PyObject* right) { return PyNumber_Power(left, right, Py_None); }

BinaryFunction binary_function(int op) {
  switch (op) {
    case NB_ADD:
      return PyNumber_Add;
    case NB_AND:
      return PyNumber_And;
    case NB_FLOOR_DIVIDE:
      return PyNumber_FloorDivide;
    case NB_LSHIFT:
      return PyNumber_Lshift;
    case NB_MATRIX_MULTIPLY:
      return PyNumber_MatrixMultiply;
    case NB_MULTIPLY:
      return PyNumber_Multiply;
    case NB_REMAINDER:
      return PyNumber_Remainder;
    case NB_OR:
      return PyNumber_Or;
    case NB_POWER:
      return power;
    case NB_RSHIFT:
      return PyNumber_Rshift;
    case NB_SUBTRACT:
      return PyNumber_Subtract;
    case NB_TRUE_DIVIDE:
      return PyNumber_TrueDivide;
    default:
      return PyNumber_Xor;
  }
}

// Whether the result could be so large that computing it at capture would take too long.
bool is_huge(int op, PyObject* left, PyObject* right) {
  if (op != NB_POWER && op != NB_LSHIFT && op != NB_MULTIPLY) return false;
  constexpr long limit = 4096;
  if (op == NB_MULTIPLY && PyLong_Check(left) && PyLong_Check(right)) return false;
  for (PyObject* operand : {left, right}) {
    if (op != NB_MULTIPLY && operand == left) continue;
    if (!PyLong_CheckExact(operand)) continue;
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(operand, &overflow);
    if (overflow != 0 || value > limit) return true;
  }
  return false;
}

bool is_python_int(Capture& capture, const Ref& value) { return capture.values().type_of(value) == &PyLong_Type; }

// Whether the coefficients of the result fit 64 bits.
bool has_small_coefficients(const DimTable& dims, int op, Dim left, Dim right) {
  constexpr double most = 4611686018427387904.0;  // 2**62
  const double l = dims.weight(left), r = dims.weight(right);
  if (op == NB_MULTIPLY) return l * r <= most;
  if (op == NB_POWER) return std::pow(l, static_cast<double>(dims.as_constant(right).value_or(0))) <= most;
  return l + r <= most;
}

// Python's integer arithmetic on Dims; nullopt: a Dim cannot express the result.
std::optional<Dim> dim_operation(Capture& capture, int op, Dim left, Dim right) {
  DimTable& dims = capture.dims();
  if (!has_small_coefficients(dims, op, left, right)) return std::nullopt;
  Dim zero = dims.constant(0);
  std::optional<Dim> out;
  switch (op) {
    case NB_ADD:
      out = dims.add(left, right);
      break;
    case NB_SUBTRACT:
      out = dims.sub(left, right);
      break;
    case NB_MULTIPLY:
      out = dims.mul(left, right);
      break;
    case NB_FLOOR_DIVIDE:
      if (capture.facts().is_runtime(right) || !capture.facts().decide(right, Comparison::gt, zero)) return std::nullopt;
      out = dims.quotient(left, right);
      break;
    case NB_REMAINDER:
      if (capture.facts().is_runtime(right) || !capture.facts().decide(right, Comparison::gt, zero)) return std::nullopt;
      out = dims.remainder(left, right);
      break;
    case NB_POWER: {
      auto exponent = dims.as_constant(right);
      if (!exponent || *exponent < 0 || *exponent > 4) return std::nullopt;
      out = dims.constant(1);
      for (int64_t i = 0; i < *exponent; ++i) out = dims.mul(*out, left);
      break;
    }
    default:
      return std::nullopt;
  }
  if (!capture.ranges().fits(*out)) return std::nullopt;
  return out;
}

Result<Ref> fold_binary(Capture& capture, int op, PyObject* left, PyObject* right) {
  if (is_huge(op, left, right)) return fail(Reason::unsupported_value, "a constant that is too large");
  return folded(capture, binary_function(op)(left, right));
}

// An operator on Python ints of which at least one is symbolic. A result that no Dim expresses is computed at run time.
Result<Ref> integer_operation(Capture& capture, int op, const Ref& left, const Ref& right) {
  auto l = known_dim(capture, left), r = known_dim(capture, right);
  if (l && r) {
    if (auto out = dim_operation(capture, op, *l, *r)) return capture.values().dim_scalar(*out);
  }
  return array_binary(capture, op, false, left, right);
}

// An operator on numpy.int64 scalars with Dims, exact if nothing overflows.
std::optional<Ref> numpy_integer_operation(Capture& capture, int op, const Ref& left, const Ref& right) {
  auto is_integer = [&](const Ref& value) {
    PyTypeObject* type = capture.values().type_of(value);
    return type == &PyLong_Type || type == scalar_type_of(DType::int64);
  };
  if (!is_integer(left) || !is_integer(right) || op == NB_POWER) return std::nullopt;
  auto l = known_dim(capture, left), r = known_dim(capture, right);
  if (!l || !r) return std::nullopt;
  auto out = dim_operation(capture, op, *l, *r);
  if (!out) return std::nullopt;
  return capture.values().dim_scalar(*out, ValueKind::numpy_scalar);
}

// [number] * count with a count that is not constant.
std::optional<Ref> repeated_number(Capture& capture, const Ref& sequence, const Ref& count) {
  if (sequence->kind != AbstractKind::list || sequence->items.size() != 1) return std::nullopt;
  capture.resolver().look(sequence->items[0]);
  std::optional<Dim> times = known_dim(capture, count);
  if (!number_type(*sequence->items[0]) || !times || capture.dims().as_constant(*times)) return std::nullopt;
  return list_of_number(capture, sequence->items[0], *times);
}

Result<Ref> repeat(Capture& capture, const Ref& sequence, const Ref& count, bool inplace) {
  if (!inplace) {
    if (std::optional<Ref> list = repeated_number(capture, sequence, count)) return *list;
  }
  ACCEL_TRY(int64_t times, capture.constants().require_int(count));
  if (times > 0 && static_cast<int64_t>(sequence->items.size()) * times > 65536) {
    return fail(Reason::unsupported_value, "a sequence that is too long");
  }
  std::vector<Ref> items;
  for (int64_t i = 0; i < times; ++i) items.insert(items.end(), sequence->items.begin(), sequence->items.end());
  if (sequence->kind == AbstractKind::tuple) return capture.values().tuple(std::move(items));
  if (!inplace) return capture.values().list(std::move(items));
  ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, sequence));
  sequence->items = std::move(items);
  return sequence;
}

bool is_numpy_number(Capture& capture, const Ref& value) {
  PyTypeObject* type = capture.values().type_of(value);
  return type != nullptr && is_numpy_scalar_type(type);
}

// A sequence times a NumPy integer: NumPy's scalar lets the sequence repeat itself.
Result<Ref> repeat_by_numpy(Capture& capture, const Ref& sequence, const Ref& count) {
  std::optional<Type> type = number_type(*count);
  char kind = type ? dtype_kind(type->dtype) : 'f';
  if (kind != 'i' && kind != 'u') return fail(Reason::will_raise, "a sequence times what is no integer");
  if (is_dynamic_list(sequence)) return fail(Reason::unsupported_value, "a list that grows, times a number of NumPy's");
  return repeat(capture, sequence, count, false);
}

// Concatenation of two lists of which at least one is dynamic.
Result<Ref> concatenate_dynamic_list(Capture& capture, const Ref& left, const Ref& right) {
  if (!is_any_list(*left) || !is_any_list(*right)) return fail(Reason::will_raise, "sequences of different types are added");
  Ref none = capture.values().constant(Py_None), out = capture.values().list(left->items);
  if (is_dynamic_list(left)) {
    ACCEL_TRY(out, slice_of_dynamic_list(capture, left, make_slice(capture, none, none, none)));
  }
  ACCEL_TRY([[maybe_unused]] Unit extended, extend_list(capture, out, right));
  return out;
}

Result<Ref> concatenate(Capture& capture, const Ref& left, const Ref& right, bool inplace) {
  if (is_any_list(*left) && inplace) {
    ACCEL_TRY([[maybe_unused]] Unit fresh, require_fresh(capture, left));
    ACCEL_TRY([[maybe_unused]] Unit extended, extend_list(capture, left, right));
    return left;
  }
  if (is_dynamic_list(left) || is_dynamic_list(right)) return concatenate_dynamic_list(capture, left, right);
  if (left->kind != right->kind) return fail(Reason::will_raise, "sequences of different types are added");
  std::vector<Ref> items = left->items;
  items.insert(items.end(), right->items.begin(), right->items.end());
  return left->kind == AbstractKind::tuple ? capture.values().tuple(std::move(items)) : capture.values().list(std::move(items));
}

std::optional<Result<Ref>> sequence_operation(Capture& capture, int op, bool inplace, const Ref& left, const Ref& right) {
  bool is_first = is_sequence(left) || is_dynamic_list(left),
       is_second = is_sequence(right) || is_dynamic_list(right) || inplace;
  if (op == NB_ADD && is_first && is_second && !is_arraylike(right)) {
    return concatenate(capture, left, right, inplace);
  }
  if (op != NB_MULTIPLY) return std::nullopt;
  if (is_sequence(left) && is_python_int(capture, right)) return repeat(capture, left, right, inplace);
  if (is_sequence(right) && is_python_int(capture, left)) return repeat(capture, right, left, false);
  if (is_first && is_numpy_number(capture, right)) return repeat_by_numpy(capture, left, right);
  if ((is_sequence(right) || is_dynamic_list(right)) && is_numpy_number(capture, left))
    return repeat_by_numpy(capture, right, left);
  return std::nullopt;
}

// Dict union; the result is a new dict.
Result<Ref> merge_dicts(Capture& capture, const Ref& left, const Ref& right) {
  if (left->source >= 0 || right->source >= 0) return fail(Reason::unsupported_value, "a dict of the call is merged");
  Ref out = std::make_shared<AbstractValue>(*left);
  for (size_t i = 0; i < right->keys.size(); ++i) {
    ACCEL_TRY([[maybe_unused]] Unit done,
              set_item(capture, out, capture.values().constant(right->keys[i].get()), right->items[i]));
  }
  return out;
}

}  // namespace

Ref make_bool(Capture& capture, bool value) { return capture.values().constant(value ? Py_True : Py_False); }

namespace {

// The Dim of a number read from an array in which all elements are one size.
std::optional<Dim> size_of_element(const Graph& graph, ValueId value) {
  while (value != no_value && graph.type(value).dtype == DType::int64 && !graph.is_input(value)) {
    const Node& node = graph.producer(value);
    if (node.op == Op::dim || node.op == Op::bind) return node.attrs.dims[0];
    bool same = node.op == Op::full || node.op == Op::astype || node.op == Op::copy || op_class(node.op) == OpClass::view;
    value = same ? node.operands[0] : no_value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dim> as_dim(Capture& capture, const Ref& value) { return known_dim(capture, value); }

std::optional<Dim> known_dim(Capture& capture, const Ref& value) {
  capture.resolver().look(value);
  if (value->kind == AbstractKind::scalar) {
    ScalarState& state = value->scalar;
    if (!state.dim && state.dtype == DType::int64) {
      uint64_t known_bits[2];
      PyRef known = capture.constants().known_value(value);
      if (known && read_scalar(known.get(), DType::int64, known_bits))
        state.dim = capture.dims().constant(static_cast<int64_t>(known_bits[0]));
      if (!state.dim) state.dim = size_of_element(capture.graph(), state.value);
    }
    return state.dim;
  }
  if (value->kind != AbstractKind::constant) return std::nullopt;
  PyObject* object = value->object.get();
  if (!PyLong_CheckExact(object) && dtype_of_scalar(object) != DType::int64) return std::nullopt;
  uint64_t bits[2];
  if (!read_scalar(object, DType::int64, bits)) return std::nullopt;
  return capture.dims().constant(static_cast<int64_t>(bits[0]));
}

Result<Ref> folded(Capture& capture, PyObject* new_reference) {
  PyRef object = PyRef::steal(new_reference);
  if (!object) return capture.raised();
  if (PySet_CheckExact(object.get())) return capture.values().set(std::move(object));
  if (PyList_CheckExact(object.get())) {
    std::vector<Ref> items;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object.get()); ++i) {
      ACCEL_TRY(Ref item, folded(capture, PyRef::borrow(PyList_GET_ITEM(object.get(), i)).release()));
      items.push_back(std::move(item));
    }
    return capture.values().list(std::move(items));
  }
  return capture.values().constant(object.get());
}

bool warns(const std::function<PyObject*()>& call) {
  const WarningsAsErrors errors;
  PyRef result = PyRef::steal(call());
  bool warned = !result && PyErr_ExceptionMatches(PyExc_Warning);
  PyErr_Clear();
  return warned;
}

// Whether it is a dtype with fields: NumPy makes a new object in each call, whose field names can be assigned.
static bool has_settable_names(PyObject* object) {
  if (!is_dtype_object(object)) return false;
  PyRef names = PyRef::steal(PyObject_GetAttrString(object, "names"));
  if (!names) PyErr_Clear();
  return names.get() != Py_None;
}

Result<Ref> folded_quietly(Capture& capture, const std::function<PyObject*()>& call) {
  const WarningsAsErrors errors;
  const EventsAsErrors events;
  PyRef result = PyRef::steal(call());
  if (!result && (PyErr_ExceptionMatches(PyExc_Warning) || PyErr_ExceptionMatches(PyExc_FloatingPointError))) {
    PyErr_Clear();
    return fail(Reason::unsupported_call, "a call that warns");
  }
  if (result && has_settable_names(result.get())) return fail(Reason::unsupported_call, "a structured dtype, made anew");
  return folded(capture, result.release());
}

Result<Ref> fold(Capture& capture, PyObject* function, const std::vector<PyRef>& arguments) {
  std::vector<PyObject*> borrowed;
  for (const PyRef& argument : arguments) borrowed.push_back(argument.get());
  return folded_quietly(capture, [&] { return PyObject_Vectorcall(function, borrowed.data(), borrowed.size(), nullptr); });
}

Result<Ref> binary_operation(Capture& capture, int op, bool inplace, const Ref& left, const Ref& right,
                             Temporaries temporaries) {
  capture.resolver().look(left);
  capture.resolver().look(right);
  if (auto result = sequence_operation(capture, op, inplace, left, right)) return *result;
  for (const Ref& operand : {left, right}) {
    if (operand->kind == AbstractKind::object) return capture.resolver().refusal(operand);
  }
  if (is_known_set(left) && is_known_set(right)) {
    ACCEL_TRY(Ref result, fold_binary(capture, op, left->object.get(), right->object.get()));
    if (!inplace || left->kind != AbstractKind::set) return result;
    left->object = result->object;
    return left;
  }
  if (capture.constants().is_constant(left) && capture.constants().is_constant(right)) {
    ACCEL_TRY(PyRef l, capture.constants().require_constant(left));
    ACCEL_TRY(PyRef r, capture.constants().require_constant(right));
    if (is_plain_constant(l.get()) && is_plain_constant(r.get())) return fold_binary(capture, op, l.get(), r.get());
  }
  if (is_python_int(capture, left) && is_python_int(capture, right)) return integer_operation(capture, op, left, right);
  if (auto result = numpy_integer_operation(capture, op, left, right)) return *result;
  if (numpy_decides(left, right)) return array_binary(capture, op, inplace, left, right, temporaries);
  if (op == NB_OR && left->kind == AbstractKind::dict && right->kind == AbstractKind::dict && !inplace) {
    return merge_dicts(capture, left, right);
  }
  return fail(Reason::unsupported_value, "an operator on these objects");
}

Result<Ref> unary_operation(Capture& capture, char op, const Ref& operand) {
  capture.resolver().look(operand);
  if (operand->kind == AbstractKind::object) return capture.resolver().refusal(operand);
  if (operand->kind == AbstractKind::constant && is_plain_constant(operand->object.get())) {
    PyObject* object = operand->object.get();
    if (op == '~' && PyBool_Check(object)) return fail(Reason::unsupported_value, "~ of a bool warns");
    return folded(capture, op == '-'   ? PyNumber_Negative(object)
                           : op == '+' ? PyNumber_Positive(object)
                                       : PyNumber_Invert(object));
  }
  if (op == '+' && operand->kind == AbstractKind::scalar && is_python_int(capture, operand))
    return python_integer(capture, operand);
  if (operand->kind == AbstractKind::scalar && operand->scalar.dim) {
    DimTable& dims = capture.dims();
    Dim d = *operand->scalar.dim;
    std::optional<Dim> out;
    if (op == '+') out = d;
    if (op == '-') out = dims.sub(dims.constant(0), d);
    if (op == '~') out = dims.sub(dims.constant(-1), d);
    if (out && capture.ranges().fits(*out)) return capture.values().dim_scalar(*out, operand->scalar.kind);
  }
  if (is_arraylike(operand)) return array_unary(capture, op, operand);
  return fail(Reason::unsupported_value, "an operator on this object");
}

}  // namespace accel
