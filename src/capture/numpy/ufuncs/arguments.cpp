#include "capture/protocol/arguments.h"

#include <algorithm>

#include "capture/context/integers/value_hints.h"
#include "capture/context/quiet_calls.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/operands.h"
#include "capture/protocol/operations.h"
#include "cpython/imported.h"
#include "ndarray/array.h"
#include "ndarray/casts.h"

namespace accel {

namespace {

PyObject* missing_marker() {
  static PyObject* const object = imported_attribute("numpy._globals", "_NoValue").release();
  return object;
}

// dtype specifications that are resolved without running user code.
bool is_plain_dtype_spec(PyObject* object) {
  if (PyUnicode_CheckExact(object) || is_dtype_object(object)) return true;
  if (!PyType_Check(object)) return false;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (PyType_IsSubtype(type, known_types().dtype)) return true;  // numpy.dtypes.Float64DType and other dtype classes
  return type == &PyBool_Type || type == &PyLong_Type || type == &PyFloat_Type || type == &PyComplex_Type ||
         is_numpy_scalar_type(type);
}

}  // namespace

Result<std::vector<Ref>> bind_arguments(const CallArguments& arguments, const Signature& signature) {
  const auto& names = signature.names;
  std::vector<Ref> out(names.size());
  size_t most = std::min(names.size(), signature.keyword_only);
  if (arguments.positional.size() > most) return fail(Reason::will_raise, "too many positional arguments");
  std::copy(arguments.positional.begin(), arguments.positional.end(), out.begin());
  for (const auto& [name, value] : arguments.keywords) {
    auto found = std::find_if(names.begin(), names.end(), [&, n = &name](const char* known) { return *n == known; });
    auto index = static_cast<size_t>(found - names.begin());
    if (index == names.size() || index < signature.positional_only) {
      return fail(Reason::unsupported_argument, "the argument " + name);
    }
    if (out[index]) return fail(Reason::will_raise, "argument " + name + " is given twice");
    out[index] = value;
  }
  for (size_t k = 0; k < signature.required; ++k) {
    if (!out[k]) return fail(Reason::will_raise, std::string("the argument ") + names[k] + " is missing");
  }
  return out;
}

bool is_object(const Ref& ref, PyObject* object) {
  return ref && ref->kind == AbstractKind::constant && ref->object.get() == object;
}

bool is_none(const Ref& ref) { return !ref || is_object(ref, Py_None); }
bool is_no_value(const Ref& ref) { return !ref || is_object(ref, missing_marker()); }

Result<bool> read_flag(Capture& capture, const Ref& ref, bool when_missing) {
  if (!ref || is_no_value(ref)) return when_missing;
  ACCEL_TRY(PyRef object, capture.constants().require_constant(ref));
  if (!PyBool_Check(object.get()) && !PyLong_CheckExact(object.get()) && object.get() != Py_None) {
    return fail(Reason::unsupported_argument, "a flag that is no bool; plain form: True or False");
  }
  return PyObject_IsTrue(object.get()) == 1;
}

Result<std::string> read_text(Capture& capture, const Ref& ref) {
  if (is_none(ref)) return std::string();
  ACCEL_TRY(PyRef object, capture.constants().require_constant(ref));
  const char* text = PyUnicode_CheckExact(object.get()) ? PyUnicode_AsUTF8(object.get()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return fail(Reason::unsupported_argument, "a string is needed, not " + short_repr(object.get()));
  }
  return std::string(text);
}

Result<int> read_axis(Capture& capture, const Ref& ref, int rank) {
  if (capture.values().type_of(ref) == &PyBool_Type) return fail(Reason::will_raise, "a bool as an axis");
  ACCEL_TRY(int64_t axis, capture.constants().require_int(ref));
  if (axis < -rank || axis >= rank) return fail(Reason::will_raise, "axis " + std::to_string(axis) + " is out of bounds");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::optional<std::vector<int>>> read_axes(Capture& capture, const Ref& ref, int rank) {
  if (is_none(ref)) return std::optional<std::vector<int>>();
  std::vector<int> axes;
  if (ref->kind == AbstractKind::tuple) {
    for (const Ref& item : ref->items) {
      ACCEL_TRY(int axis, read_axis(capture, item, rank));
      axes.push_back(axis);
    }
  } else {
    ACCEL_TRY(int axis, read_axis(capture, ref, rank));
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return fail(Reason::will_raise, "an axis is given twice");
  return std::optional<std::vector<int>>(std::move(axes));
}

Result<PyRef> read_descr(Capture& capture, const Ref& ref) {
  if (is_none(ref)) return PyRef();
  ACCEL_TRY(PyRef object, capture.constants().require_constant(ref));
  if (!is_plain_dtype_spec(object.get())) {
    return fail(Reason::unsupported_argument, "the dtype " + short_repr(object.get()));
  }
  bool is_class =
      PyType_Check(object.get()) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object.get()), known_types().dtype) != 0;
  const WarningsAsErrors errors;
  PyRef descr = PyRef::steal(is_class ? PyObject_CallNoArgs(object.get()) : new_descr(object.get()));
  if (!descr) {
    bool warns = PyErr_ExceptionMatches(PyExc_Warning) != 0;
    PyErr_Clear();
    if (warns) return fail(Reason::will_warn, "a dtype that warns: " + short_repr(object.get()));
    return fail(Reason::will_raise, "no dtype: " + short_repr(object.get()));
  }
  return descr;
}

Result<std::optional<DType>> read_dtype(Capture& capture, const Ref& ref) {
  ACCEL_TRY(PyRef descr, read_descr(capture, ref));
  if (!descr) return std::optional<DType>();
  auto dtype = dtype_of_descr(descr.get());
  if (!dtype) return fail(Reason::unsupported_dtype, short_repr(descr.get()));
  return std::optional<DType>(dtype);
}

namespace {

// The sign to expect of a number without a hint: negative if it is written with a minus.
int64_t likely_sign(const Graph& graph, ValueId value) {
  while (value != no_value && !graph.is_input(value) && graph.producer(value).op == Op::astype)
    value = graph.producer(value).operands[0];
  return value != no_value && !graph.is_input(value) && graph.producer(value).op == Op::negative ? -1 : 1;
}

// The hint for a run-time integer. A negative hint for a number that is not written with a minus is replaced, because later
// iterations are likely to have indices counted from the start.
int64_t likely(const Graph& graph, ValueId value) {
  int64_t sign = likely_sign(graph, value), found = likely_integer(graph, value).value_or(sign);
  return found < 0 && sign > 0 ? sign : found;
}

}  // namespace

Result<Dim> read_dim(Capture& capture, const Ref& ref) {
  capture.resolver().look(ref);
  if (ref->kind == AbstractKind::scalar) {
    ScalarState& state = ref->scalar;
    if (auto known = known_dim(capture, ref)) return *known;
    char kind = dtype_kind(state.dtype);
    bool fits = kind == 'i' || (kind == 'u' && state.dtype != DType::uint64);
    if (!fits) return fail(Reason::unsupported_argument, "an integer is needed");
    if (PyRef known = capture.constants().known_value(ref)) {
      ACCEL_TRY(int64_t number, capture.constants().require_int(capture.values().constant(known.get())));
      return capture.dims().constant(number);
    }
    ValueId value = capture.values().astype(state.value, DType::int64);
    Dim d = capture.facts().bind_dim(value, "integer", likely(capture.graph(), state.value), -9.3e18, 9.3e18);
    if (state.dtype == DType::int64 && capture.facts().keeps_symbols()) state.dim = d;
    return d;
  }
  ACCEL_TRY(int64_t value, capture.constants().require_int(ref));
  return capture.dims().constant(value);
}

Result<Dim> read_extent(Capture& capture, const Ref& ref) {
  if (capture.values().type_of(ref) == &PyBool_Type) return fail(Reason::will_raise, "a bool as an extent");
  return read_dim(capture, ref);
}

Result<std::vector<Dim>> read_shape(Capture& capture, const Ref& ref) {
  std::vector<Ref> items = {ref};
  if (ref->kind == AbstractKind::tuple || ref->kind == AbstractKind::list) items = ref->items;
  std::vector<Dim> out;
  for (const Ref& item : items) {
    ACCEL_TRY(Dim extent, read_extent(capture, item));
    if (!capture.facts().decide(extent, Comparison::ge, capture.dims().constant(0))) {
      return fail(Reason::will_raise, "negative dimensions are not allowed");
    }
    out.push_back(extent);
  }
  return out;
}

bool can_cast(DType from, DType to, const std::string& casting) {
  return numpy_can_cast(from, to, casting.empty() ? "same_kind" : casting.c_str());
}

}  // namespace accel
