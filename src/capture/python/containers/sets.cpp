// Sets that the captured code makes. Sets of constants are Python sets, which have Python's order; of other sets only the
// number of elements and membership are known.

#include "capture/domain/number_type.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/builtin_calls.h"

namespace accel {

namespace {

PyRef copy_of(PyObject* set) { return PyRef::steal(PySet_New(set)); }

// Whether it is a constant whose hash and == run no user code.
bool is_safe_element(Capture& capture, const Ref& value) {
  if (!capture.constants().is_constant(value)) return false;
  auto object = capture.constants().require_constant(value);
  return object.ok() && (is_plain_constant(object->get()) || is_dtype(object->get()) || PyType_Check(object->get()));
}

Status make_abstract(Capture& capture, const Ref& set) {
  ACCEL_TRY(set->items, all_items(capture, set));
  set->object = PyRef();
  return Unit{};
}

// The iterable argument of a set method as a Python object: a set of constants, or a tuple of the items.
Result<PyRef> iterable_constant(Capture& capture, const Ref& value) {
  if (value->kind == AbstractKind::set) return capture.constants().require_constant(value);
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, value));
  for (const Ref& item : items) {
    capture.resolver().look(item);
    if (!is_safe_element(capture, item)) return fail(Reason::unsupported_argument, "a set of values that are not constant");
  }
  return capture.constants().require_constant(capture.values().tuple(std::move(items)));
}

}  // namespace

Ref make_set() {
  Ref set = std::make_shared<AbstractValue>();
  set->kind = AbstractKind::set;
  set->object = PyRef::steal(PySet_New(nullptr));
  return set;
}

bool has_certain_order(PyObject* set) {
  constexpr long smallest_table = 8;  // PySet_MINSIZE
  if (PySet_GET_SIZE(set) < 2) return true;
  PyObject* item = nullptr;
  for (PyRef items = PyRef::steal(PyObject_GetIter(set)); items && (item = PyIter_Next(items.get())) != nullptr;) {
    PyRef held = PyRef::steal(item);
    long number = PyLong_CheckExact(item) ? PyLong_AsLong(item) : -1;
    if (number < 0) PyErr_Clear();
    if (number < 0 || number >= smallest_table) return false;
  }
  return true;
}

bool is_known_set(const Ref& value) {
  if (value->kind == AbstractKind::set) return static_cast<bool>(value->object);
  return value->kind == AbstractKind::constant && PyFrozenSet_CheckExact(value->object.get());
}

// Whether a number is compared in less than Python's precision, so that equal numbers may have different hashes.
bool is_narrow(const Ref& value) {
  std::optional<Type> number = number_type(*value);
  char kind = number ? dtype_kind(number->dtype) : 'i';
  return (kind == 'f' || kind == 'c') && item_size(number->dtype) < (kind == 'c' ? 16 : 8);
}

Status add_to_set(Capture& capture, const Ref& set, const Ref& value) {
  capture.resolver().look_deep(value);
  if (set->object && is_safe_element(capture, value)) {
    ACCEL_TRY(PyRef element, capture.constants().require_constant(value));
    PyRef next = copy_of(set->object.get());
    if (!next || PySet_Add(next.get(), element.get()) < 0) return capture.raised();
    set->object = std::move(next);
    return Unit{};
  }
  bool hashable =
      value->kind == AbstractKind::scalar || value->kind == AbstractKind::tuple || value->kind == AbstractKind::constant;
  if (!hashable) return fail(Reason::unsupported_value, "an element of a set");
  if (set->object) {
    ACCEL_TRY([[maybe_unused]] Unit done, make_abstract(capture, set));
  }
  for (const Ref& item : set->items) {
    if (is_narrow(item) != is_narrow(value)) return fail(Reason::unsupported_value, "a set of numbers of several types");
    ACCEL_TRY(bool same, is_equal(capture, item, value));
    if (same) return Unit{};
  }
  set->items.push_back(value);
  return Unit{};
}

// set([iterable])
Result<Ref> capture_set(Capture& capture, PyObject*, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit plain, require_plain(arguments, 0, 1));
  Ref set = make_set();
  if (arguments.positional.empty()) return set;
  ACCEL_TRY(std::vector<Ref> items, all_items(capture, arguments.positional[0]));
  for (const Ref& item : items) {
    ACCEL_TRY([[maybe_unused]] Unit done, add_to_set(capture, set, item));
  }
  return set;
}

// Methods of sets of constants: calls Python's method on a copy, which replaces the set.
Result<Ref> capture_set_method(Capture& capture, PyObject* method, const CallArguments& arguments) {
  if (arguments.positional.empty() || !arguments.keywords.empty() || arguments.positional[0]->kind != AbstractKind::set) {
    return fail(Reason::unsupported_call, "a method of a set");
  }
  const Ref& set = arguments.positional[0];
  PyRef name = PyRef::steal(PyObject_GetAttrString(method, "__name__"));
  if (name && utf8(name.get()) == "add" && arguments.positional.size() == 2) {
    ACCEL_TRY([[maybe_unused]] Unit done, add_to_set(capture, set, arguments.positional[1]));
    return capture.values().constant(Py_None);
  }
  ACCEL_TRY(PyRef object, capture.constants().require_constant(set));
  PyRef next = copy_of(object.get());
  std::vector<PyRef> values = {next};
  bool element = name && (utf8(name.get()) == "discard" || utf8(name.get()) == "remove");
  for (size_t i = 1; i < arguments.positional.size(); ++i) {
    const Ref& argument = arguments.positional[i];
    if (element && !is_safe_element(capture, argument)) return fail(Reason::unsupported_argument, "an element of a set");
    ACCEL_TRY(PyRef value, element ? capture.constants().require_constant(argument) : iterable_constant(capture, argument));
    values.push_back(std::move(value));
  }
  ACCEL_TRY(Ref result, fold(capture, method, values));
  set->object = std::move(next);
  return result;
}

}  // namespace accel
