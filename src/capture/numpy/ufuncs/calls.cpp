#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "capture/numpy/arrays/assign.h"
#include "capture/numpy/ufuncs/complex_products.h"
#include "capture/numpy/ufuncs/overlap.h"
#include "capture/protocol/arguments.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/protocol/ufunc_calls.h"
#include "ndarray/array.h"

namespace accel {

namespace {

// A ufunc call whose dtypes and shapes are being resolved.
struct UfuncCall {
  Op op;
  std::vector<Operand> operands;
  std::vector<Operand> outs;    // parallel to results, or empty
  std::optional<Operand> mask;  // where=
  std::vector<DType> dtypes;    // of the loop: operands, then results
  std::vector<Dim> shape;
  std::vector<uint8_t> order;
  const Predicate* predicate = nullptr;
};

Status read_outs(Capture& capture, const UfuncOptions& options, UfuncCall& call) {
  for (const Ref& out : options.outs) {
    if (!out)
      return fail(Reason::unsupported_argument,
                  "out for some of the results; plain form: assign each result of the call without out");
    ACCEL_TRY(Operand operand, call.predicate ? read_lanes(capture, out) : read_operand(capture, out));
    if (!operand.is_array()) return fail(Reason::will_raise, "out is no array");
    if (call.predicate && !is_masked_selection(out))
      return fail(Reason::unsupported_argument, "an operation under a mask with out");
    ACCEL_TRY([[maybe_unused]] Unit storable, capture.memory().check_storable(out));
    for (const Operand& other : call.outs)
      if (other.ref->array.storage == out->array.storage)
        return fail(Reason::unsupported_argument, "one array for two results; plain form: an array of its own for each result");
    call.outs.push_back(std::move(operand));
  }
  return Unit{};
}

Status resolve_types(PyObject* ufunc, const UfuncOptions& options, UfuncCall& call) {
  std::vector<OperandType> types;
  for (const Operand& operand : call.operands) types.push_back(operand.type);
  for (const Operand& out : call.outs) types.push_back(out.type);
  const char* casting = options.casting.empty() ? nullptr : options.casting.c_str();
  ACCEL_TRY(call.dtypes, resolve_dtypes(ufunc, types, options.dtype.get(), false, casting));
  for (size_t k = 0; k < call.outs.size(); ++k) {
    DType result = call.dtypes[call.operands.size() + k];
    DType own = call.outs[k].type.dtype;
    if (!can_cast(result, own, options.casting)) return fail(Reason::will_raise, "the result cannot be cast to out");
    if (call.mask && !can_cast(own, result, "safe"))
      return fail(Reason::floating_point_event, "NumPy casts the elements that where leaves out, too");
  }
  return Unit{};
}

// Operands under a mask have the full shape; fails if the operation broadcasts them.
Status check_lanes(Capture& capture, const UfuncCall& call) {
  for (const Operand& operand : call.operands) {
    if (!is_masked_selection(operand.ref)) continue;
    for (size_t k = 0; k < call.shape.size(); ++k) {
      if (!capture.facts().decide_equal(operand.shape[k], call.shape[k]))
        return fail(Reason::unsupported_argument, "an operation under a mask that spreads axes");
    }
  }
  return Unit{};
}

// Broadcasts the shapes. Outs take part, but must have the resulting shape.
Status resolve_shape(Capture& capture, UfuncCall& call) {
  std::vector<std::vector<Dim>> shapes;
  for (const Operand& out : call.outs) shapes.push_back(out.shape);
  for (const Operand& operand : call.operands) shapes.push_back(operand.shape);
  if (call.mask) shapes.push_back(call.mask->shape);
  ACCEL_TRY(call.shape, broadcast_shapes(capture, shapes));
  if (call.predicate) return check_lanes(capture, call);
  for (const Operand& out : call.outs) {
    bool same = out.shape.size() == call.shape.size();
    for (size_t k = 0; same && k < out.shape.size(); ++k) same = capture.facts().decide_equal(out.shape[k], call.shape[k]);
    if (!same) return fail(Reason::will_raise, "out has another shape than the result");
  }
  return Unit{};
}

// Whether NumPy calls the loop directly, without an iterator, so that the result is in Fortran order like all operands. This
// differs from an iterator's order where axes have extent 1, which iterators ignore.
bool is_fortran_loop(Capture& capture, const UfuncCall& call) {
  bool has_single = std::any_of(call.shape.begin(), call.shape.end(), [&](Dim extent) {
    return capture.ranges().hint(extent) == 1 && !capture.facts().is_runtime(extent);
  });
  if (call.shape.size() < 3 || !has_single || call.mask || !call.outs.empty() || call.predicate ||
      call.dtypes.size() != call.operands.size() + 1)
    return false;
  bool all_c = true;
  for (size_t k = 0; k < call.operands.size(); ++k) {
    const Operand& operand = call.operands[k];
    if (operand.shape.empty()) continue;
    if (!operand.is_array() || operand.type.dtype != call.dtypes[k] || operand.shape.size() != call.shape.size()) return false;
    for (size_t axis = 0; axis < call.shape.size(); ++axis)
      if (!capture.facts().decide_equal(operand.shape[axis], call.shape[axis])) return false;
    bool c = is_c_contiguous(capture, operand.ref);
    if (!c && !is_f_contiguous(capture, operand.ref)) return false;
    all_c = all_c && c;
  }
  return !all_c;
}

void resolve_order(Capture& capture, char order, const Ref& into, UfuncCall& call) {
  if (into) {
    call.order = copy_order(capture, into);
    return;
  }
  if (order == 'K' && is_fortran_loop(capture, call)) order = 'F';
  if (order == 'K') call.order = result_order(capture, call.operands, call.shape);
  if (order != 'F') return;
  for (size_t k = call.shape.size(); k-- > 0;) call.order.push_back(static_cast<uint8_t>(k));
}

bool is_integral(DType dtype) { return dtype_kind(dtype) != 'f' && dtype_kind(dtype) != 'c'; }

// base ** exponent of integers by squaring. Integers wrap around, so the bits are those of NumPy's loop.
ValueId integer_power(Capture& capture, ValueId base, int64_t exponent, const UfuncCall& call, ValueKind kind) {
  Builder& build = capture.build();
  auto product = [&](ValueId a, ValueId b) {
    return build.pointwise(Op::multiply, {a, b}, {call.dtypes[2]}, kind, call.order);
  };
  ValueId result = no_value;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = result == no_value ? base : product(result, base);
    if (exponent > 1) base = product(base, base);
  }
  if (result == no_value) result = build.constant(Literal::of_int(call.dtypes[2], 1), ValueKind::numpy_scalar);
  bool shaped = capture.graph().type(result).rank() > 0 || call.shape.empty();
  if (!shaped) return build.full(result, call.shape, call.order);
  return build.pointwise(Op::astype, {result}, {call.dtypes[2]}, kind, call.order);
}

// Requires that no element is negative; checked in compiled code.
Status require_naturals(Capture& capture, ValueId exponents) {
  const Type type = capture.graph().type(exponents);
  if (dtype_kind(type.dtype) != 'i') return Unit{};
  if (type.rank() == 0) return require_natural(capture, exponents);
  Builder& build = capture.build();
  std::vector<int> axes(type.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  ValueId zero = build.constant(Literal::of_int(type.dtype, 0), ValueKind::numpy_scalar);
  return require_natural(capture, build.reduce(Op::minimum, exponents, axes, type.dtype, zero, false, ValueKind::numpy_scalar));
}

// The exponent of an integer power; nullopt if it is known at run time only, and then compiled code checks that it is not
// negative.
Result<std::optional<int64_t>> integer_exponent(Capture& capture, const UfuncCall& call) {
  const Operand& exponent = call.operands[1];
  if (exponent.is_array()) {
    ACCEL_TRY([[maybe_unused]] Unit natural,
              require_naturals(capture, capture.values().astype(capture.memory().read(exponent.ref), call.dtypes[1])));
    return std::optional<int64_t>();
  }
  if (exponent.ref->kind == AbstractKind::scalar) {
    ACCEL_TRY(ValueId v, operand_value(capture, exponent, call.dtypes[1]));
    ACCEL_TRY([[maybe_unused]] Unit natural, require_natural(capture, v));
    return std::optional<int64_t>();
  }
  ACCEL_TRY(int64_t value, capture.constants().require_int(exponent.ref));
  if (value < 0) return fail(Reason::will_raise, "integers to negative integer powers are not allowed");
  return std::optional<int64_t>(value);
}

// Operands 0 and 1 that compare like any number of the array's dtype does with a Python int outside of its range.
std::vector<ValueId> beyond_bounds(Capture& capture, const UfuncCall& call, size_t number) {
  PyRef zero = PyRef::steal(PyLong_FromLong(0));
  bool above = PyObject_RichCompareBool(call.operands[number].ref->object.get(), zero.get(), Py_GT) == 1;
  std::vector<ValueId> values;
  for (size_t k = 0; k < 2; ++k) {
    Literal literal = Literal::of_int(call.dtypes[k], (k == number) == above ? 1 : 0);
    values.push_back(capture.build().constant(literal, ValueKind::numpy_scalar));
  }
  return values;
}

std::vector<ValueId> spanned(Capture& capture, std::vector<ValueId> values, const UfuncCall& call) {
  // An operand of rank 0 with an extent of its own is an array: it is broadcast to the result if no other operand is.
  for (ValueId& value : values) value = broadcast_value(capture, value, call.shape);
  bool is_spanned = std::any_of(values.begin(), values.end(), [&](ValueId v) { return capture.graph().type(v).rank() > 0; });
  if (!is_spanned && !call.shape.empty()) values[0] = capture.build().full(values[0], call.shape);
  return values;
}

// Scalars are converted first, because only their conversion can fail.
Result<std::vector<ValueId>> operand_values(Capture& capture, const UfuncCall& call) {
  std::vector<ValueId> values(call.operands.size(), no_value);
  for (bool arrays : {false, true}) {
    for (size_t k = 0; k < values.size(); ++k) {
      if (call.operands[k].is_array() != arrays) continue;
      Result<ValueId> value = operand_value(capture, call.operands[k], call.dtypes[k]);
      bool beyond = !value.ok() && value.failure().reason == Reason::will_raise && is_comparison(call.op) &&
                    is_integer_dtype(call.operands[1 - k].type.dtype);  // NumPy raises for bools
      if (beyond) {
        ACCEL_TRY([[maybe_unused]] PyRef constant, capture.constants().require_constant(call.operands[k].ref));
        if (!call.mask && !call.predicate) return spanned(capture, beyond_bounds(capture, call, k), call);
        return fail(Reason::unsupported_argument, "a comparison with a Python integer out of bounds");
      }
      if (!value.ok()) return value.failure();
      values[k] = *value;
    }
  }
  return spanned(capture, std::move(values), call);
}

// Elements for which the mask is false are not computed.
void mask_operands(Capture& capture, ValueId mask, std::vector<ValueId>& values) {
  for (ValueId& value : values) {
    if (capture.graph().type(value).rank() > 0) value = capture.build().lanes(value, mask);
  }
}

Result<Ref> finish(Capture& capture, const UfuncCall& call, bool keep_arrays, ValueId mask,
                   const std::vector<ValueId>& results) {
  std::vector<Ref> out;
  for (size_t k = 0; k < results.size(); ++k) {
    if (call.outs.empty()) {
      out.push_back(wrap_result(capture, results[k], keep_arrays));
      if (call.predicate) make_masked_selection(out.back(), *call.predicate);
      continue;
    }
    ValueId value = capture.values().astype(results[k], call.outs[k].type.dtype);
    out.push_back(store_result(capture, call.outs[k].ref, value, mask));
  }
  return out.size() == 1 ? out[0] : capture.values().tuple(std::move(out));
}

// NumPy's loop of clip() with scalar bounds keeps elements that equal a bound, so -0.0 stays for a bound of 0.0. Op::clip would
// return the bound, like NumPy's loop for array bounds.
bool is_clip_between_numbers(Capture& capture, const UfuncCall& call) {
  if (call.op != Op::clip || (call.dtypes[0] != DType::float64 && call.dtypes[0] != DType::float32)) return false;
  auto is_number = [&](const Operand& bound) {
    return std::all_of(bound.shape.begin(), bound.shape.end(), [&](Dim d) { return capture.dims().is_constant(d, 1); });
  };
  return is_number(call.operands[1]) && is_number(call.operands[2]) && call.operands[0].shape.size() == call.shape.size();
}

ValueId clip_between_numbers(Capture& capture, const std::vector<ValueId>& values, const UfuncCall& call, ValueKind kind) {
  // For equal operands maximum and minimum return the second.
  ValueId raised = capture.build().pointwise(Op::maximum, {values[1], values[0]}, {call.dtypes[3]}, kind, call.order);
  return capture.build().pointwise(Op::minimum, {values[2], raised}, {call.dtypes[3]}, kind, call.order);
}

}  // namespace

Status require_natural(Capture& capture, ValueId exponent) {
  DType dtype = capture.graph().type(exponent).dtype;
  if (dtype_kind(dtype) != 'i') return Unit{};
  ValueId zero = capture.build().constant(Literal::of_int(dtype, 0), ValueKind::py_scalar);
  ValueId natural = capture.build().pointwise(Op::greater_equal, {exponent, zero}, {DType::bool_}, ValueKind::py_scalar);
  return capture.require(natural, Reason::will_raise, "integers to negative integer powers are not allowed");
}

Ref wrap_result(Capture& capture, ValueId value, bool as_array) {
  Type& type = capture.graph().values[static_cast<size_t>(value)].type;
  if (type.rank() > 0 || as_array) {
    type.kind = ValueKind::array;
    return capture.values().fresh_array(value);
  }
  type.kind = ValueKind::numpy_scalar;
  return capture.values().scalar(value);
}

Result<Ref> apply_ufunc(Capture& capture, PyObject* ufunc, const std::vector<Ref>& operands, const UfuncOptions& options) {
  std::optional<Op> op = op_of_ufunc(ufunc);
  if (!op) return fail(Reason::unsupported_call, "a ufunc that accel does not know");
  if (op_class(*op) == OpClass::gufunc) return apply_gufunc(capture, *op, operands, options);
  EventCall events(capture, op_info(*op).name);
  UfuncCall call{*op, {}, {}, {}, {}, {}, {}};
  if (!options.where) call.predicate = common_predicate(capture, operands, options.outs);
  for (const Ref& ref : operands) {
    ACCEL_TRY(Operand operand, call.predicate ? read_lanes(capture, ref) : read_operand(capture, ref));
    call.operands.push_back(std::move(operand));
  }
  ACCEL_TRY([[maybe_unused]] Unit outs, read_outs(capture, options, call));
  ACCEL_TRY(call.mask, read_mask(capture, options.where));
  if (call.mask && call.outs.empty())
    return fail(Reason::unsupported_argument, "where without out; plain form: numpy.where(condition, the call, values)");
  ACCEL_TRY([[maybe_unused]] Unit types, resolve_types(ufunc, options, call));
  ACCEL_TRY([[maybe_unused]] Unit shape, resolve_shape(capture, call));
  resolve_order(capture, options.order, options.into, call);
  bool power = call.op == Op::power && is_integral(call.dtypes[0]);
  std::optional<int64_t> exponent;
  if (power) {
    ACCEL_TRY(exponent, integer_exponent(capture, call));
  }
  ACCEL_TRY(std::vector<ValueId> values, operand_values(capture, call));
  ValueId mask = no_value;
  if (call.mask) {
    ACCEL_TRY(mask, mask_value(capture, *call.mask, call.shape));
    mask_operands(capture, mask, values);
  }
  std::vector<DType> results(call.dtypes.begin() + static_cast<std::ptrdiff_t>(values.size()), call.dtypes.end());
  ValueKind kind = call.shape.empty() && !options.keep_arrays ? ValueKind::numpy_scalar : ValueKind::array;
  const bool masked = mask != no_value;
  if (!is_inline(call.op, call.dtypes[0]) && is_inexact(call.dtypes[0])) {  // compiled code calls NumPy's loop
    LoopMemory memory = loop_memory(capture, call.operands, call.outs, call.dtypes[0], masked);
    if (memory == LoopMemory::overlapping || memory == LoopMemory::unclear)
      return fail(Reason::unsupported_layout, "a loop of NumPy in memory that may overlap");
  }
  ACCEL_TRY(Op product,
            product_op(capture, {call.op, call.operands, call.outs, call.shape, call.dtypes[0], call.predicate, masked}));
  if (product == Op::scalar_multiply && values.size() == 1) values.push_back(values[0]);
  Op kernel = power ? Op::int_power : product;
  ValueId first = exponent ? integer_power(capture, values[0], *exponent, call, kind)
                  : is_clip_between_numbers(capture, call)
                      ? clip_between_numbers(capture, values, call, kind)
                      : capture.build().pointwise(kernel, std::move(values), std::move(results), kind, call.order);
  return finish(capture, call, options.keep_arrays, mask, std::vector<ValueId>(capture.graph().producer(first).results));
}

Result<Ref> apply_ufunc(Capture& capture, Op op, const std::vector<Ref>& operands, const UfuncOptions& options) {
  return apply_ufunc(capture, ufunc_of(op), operands, options);
}

namespace {

// Fails for ufuncs that warn of a positional out, which is tested once by calling NumPy.
Status check_positional_out(PyObject* ufunc, size_t operands, size_t results) {
  static std::unordered_map<PyObject*, bool> known;  // keys are never freed
  auto [place, fresh] = known.try_emplace(ufunc, false);
  if (fresh) {
    Py_INCREF(ufunc);
    place->second = warns([&]() -> PyObject* {
      PyRef arguments = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(operands + results)));
      for (size_t k = 0; k < operands + results; ++k)
        PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(k), new_array(DType::bool_, {}, {}));
      return PyObject_Call(ufunc, arguments.get(), nullptr);
    });
  }
  return place->second ? Status(fail(Reason::will_warn, "an out that is given by position")) : Status(Unit{});
}

}  // namespace

// ufunc(*operands, out=, where=, casting=, order=, dtype=, subok=)
Result<Ref> numpy_ufunc_call(Capture& capture, PyObject* ufunc, const CallArguments& arguments) {
  std::optional<Op> op = op_of_ufunc(ufunc);
  if (!op || is_of_linalg(ufunc)) return call_gufunc(capture, ufunc, arguments);
  auto operands = static_cast<size_t>(op_info(*op).arity), results = static_cast<size_t>(op_info(*op).results);
  if (arguments.positional.size() < operands || arguments.positional.size() > operands + results) {
    return fail(Reason::will_raise, "wrong number of arguments");
  }
  bool by_position = arguments.positional.size() > operands;
  if (by_position) {
    ACCEL_TRY([[maybe_unused]] Unit quiet, check_positional_out(ufunc, operands, results));
  }
  CallArguments named{{}, arguments.keywords};
  ACCEL_TRY(auto given, bind_arguments(named, {{"out", "where", "casting", "order", "dtype", "subok"}}));
  if (by_position && given[0]) return fail(Reason::will_raise, "out is given by position and by name");
  if (given[0] && given[0]->kind == AbstractKind::tuple && given[0]->items.size() != results)
    return fail(Reason::will_raise, "out has another number of items than there are results");
  UfuncOptions options;
  std::vector<Ref> inputs(arguments.positional.begin(), arguments.positional.begin() + static_cast<std::ptrdiff_t>(operands));
  for (size_t k = operands; k < arguments.positional.size(); ++k) {
    if (!is_none(arguments.positional[k])) options.outs.push_back(arguments.positional[k]);
  }
  if (is_object(given[0], Py_Ellipsis)) {
    options.keep_arrays = true;
  } else if (given[0] && given[0]->kind == AbstractKind::tuple) {
    options.outs = given[0]->items;
    bool none = std::all_of(options.outs.begin(), options.outs.end(), [](const Ref& out) { return is_none(out); });
    if (none) options.outs.clear();
  } else if (!is_none(given[0])) {
    options.outs = {given[0]};
  }
  if (!options.outs.empty() && options.outs.size() != results)
    return fail(Reason::unsupported_argument,
                "out for some of the results; plain form: assign each result of the call without out");
  options.where = given[1];
  ACCEL_TRY(options.casting, read_text(capture, given[2]));
  ACCEL_TRY(std::string order, read_text(capture, given[3]));
  if (order == "A") return fail(Reason::unsupported_argument, "order='A'; plain form: order='C' or order='F'");
  if (!order.empty()) options.order = order[0];
  ACCEL_TRY(options.dtype, read_descr(capture, given[4]));
  return apply_ufunc(capture, ufunc, inputs, options);
}

}  // namespace accel
