#include "capture/context/constants.h"

#include <map>
#include <set>

#include "capture/context/context.h"
#include "capture/context/descent.h"
#include "capture/context/sources/function_objects.h"
#include "capture/domain/repr.h"
#include "ndarray/array.h"

namespace accel {

Result<int64_t> Constants::require_int(const Ref& value) {
  capture_.resolver().look(value);
  if (value->kind == AbstractKind::scalar && value->scalar.dim && !capture_.facts().is_runtime(*value->scalar.dim)) {
    int64_t now = capture_.ranges().hint(*value->scalar.dim);
    capture_.facts().decide_equal(*value->scalar.dim, capture_.dims().constant(now));
    return now;
  }
  ACCEL_TRY(PyRef object, require_constant(value));
  PyRef index = PyRef::steal(PyIndex_Check(object.get()) ? PyNumber_Index(object.get()) : nullptr);
  long long result = index ? PyLong_AsLongLong(index.get()) : -1;
  if (!index || (result == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return fail(Reason::unsupported_argument, "an integer is needed, not " + short_repr(object.get()));
  }
  return static_cast<int64_t>(result);
}

// Makes a number at a source a constant, with a guard on exactly this value.
Status Constants::promote(const Ref& value) {
  ScalarState& state = value->scalar;
  if (state.dim && capture_.facts().is_runtime(*state.dim))
    return fail(Reason::unsupported_argument, "the value is known at run time only");
  if (state.dim) {
    int64_t now = capture_.ranges().hint(*state.dim);
    capture_.facts().decide_equal(*state.dim, capture_.dims().constant(now));
    if (value->source < 0) value->object = constant_number(state.kind, now);
  } else if (value->source < 0) {
    value->object = known_value(value);
    if (!value->object) {
      promote_inputs_of(value);
      return fail(Reason::unsupported_argument, "the value is known at run time only");
    }
  } else if (state.kind == ValueKind::py_scalar) {
    capture_.sources().guard_equals(value->source, value->object.get());
  } else {
    capture_.speculation().numbers.promoted.insert(capture_.sources().text(value->source));
    if (item_size(state.dtype) > 8) return fail(Reason::unsupported_argument, "a NumPy complex number is needed as a constant");
    throw Restart{};
  }
  value->kind = AbstractKind::constant;
  return Unit{};
}

PyRef Constants::constant_number(ValueKind kind, int64_t value) {
  if (kind == ValueKind::numpy_scalar) return PyRef::steal(new_numpy_scalar(DType::int64, &value));
  return PyRef::steal(PyLong_FromLongLong(value));
}

Result<PyRef> Constants::require_items(const Ref& value) {
  const Descent level;
  auto size = static_cast<Py_ssize_t>(value->items.size());
  PyRef out = PyRef::steal(value->kind == AbstractKind::list ? PyList_New(size) : PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    ACCEL_TRY(PyRef item, require_constant(value->items[static_cast<size_t>(i)]));
    if (value->kind == AbstractKind::list) {
      PyList_SET_ITEM(out.get(), i, item.release());
    } else {
      PyTuple_SET_ITEM(out.get(), i, item.release());
    }
  }
  if (value->kind != AbstractKind::slice) return out;
  PyObject* parts = out.get();
  return PyRef::steal(PySlice_New(PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1), PyTuple_GET_ITEM(parts, 2)));
}

Result<PyRef> Constants::require_constant(const Ref& value) {
  capture_.resolver().look(value);
  switch (value->kind) {
    case AbstractKind::constant:
      if (PySet_Check(value->object.get())) return fail(Reason::unsupported_argument, "a set that may change");
      return value->object;
    case AbstractKind::scalar: {
      ACCEL_TRY([[maybe_unused]] Unit done, promote(value));
      return value->object;
    }
    case AbstractKind::tuple:
    case AbstractKind::slice:
      if (value->object) return value->object;
      [[fallthrough]];
    case AbstractKind::list:
      return require_items(value);
    case AbstractKind::set:
      if (value->object) return value->object;
      return fail(Reason::unsupported_argument, "a set of values that are not constant");
    case AbstractKind::object:
      if (!is_known_by_parts(capture_, value)) return fail(Reason::unsupported_argument, "a constant is needed here");
      capture_.sources().guard_identity(value->source, value->object.get());
      return value->object;
    default:
      return fail(Reason::unsupported_argument, "a constant is needed here");
  }
}

void Constants::promote_inputs_of(const Ref& scalar) {
  if (scalar->kind != AbstractKind::scalar) return;
  std::vector<ValueId> open = {scalar->scalar.value};
  std::set<ValueId> seen;
  std::set<std::string> promoted;
  std::map<int, Substitution> fixed;
  while (!open.empty()) {
    ValueId value = open.back();
    open.pop_back();
    if (value == no_value || !seen.insert(value).second) continue;
    if (capture_.graph().is_input(value)) {
      auto input = scalar_inputs_.find(value);
      if (input == scalar_inputs_.end()) return;  // an array: data
      promoted.insert(capture_.sources().text(input->second));
      continue;
    }
    const Node& node = capture_.graph().producer(value);
    if (op_class(node.op) == OpClass::boxed) return;
    for (Dim d : node.attrs.dims) {
      if (capture_.facts().is_runtime(d)) return;
      for (int symbol : capture_.dims().symbols(d))
        fixed[symbol] = capture_.ranges().substitution_of(
            symbol, capture_.dims().constant(capture_.graph().hints[static_cast<size_t>(symbol)]));
    }
    open.insert(open.end(), node.operands.begin(), node.operands.end());
  }
  size_t before = capture_.speculation().numbers.promoted.size() + capture_.speculation().numbers.substitutions.size();
  capture_.speculation().numbers.promoted.insert(promoted.begin(), promoted.end());
  capture_.speculation().numbers.substitutions.insert(fixed.begin(), fixed.end());
  if (capture_.speculation().numbers.promoted.size() + capture_.speculation().numbers.substitutions.size() == before) return;
  throw Restart{};
}

bool Constants::is_constant(const Ref& value) const {
  if (value->kind == AbstractKind::constant) return true;
  if (value->kind != AbstractKind::tuple && value->kind != AbstractKind::slice) return false;
  if (value->object) return true;
  for (const Ref& item : value->items) {
    if (!is_constant(item)) return false;
  }
  return true;
}

}  // namespace accel
