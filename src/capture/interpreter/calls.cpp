#include "capture/interpreter/calls.h"

#include <algorithm>

#include "capture/context/descent.h"
#include "capture/context/sources/class_guards.h"
#include "capture/context/sources/function_objects.h"
#include "capture/domain/compiled_functions.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/interpreter/interpreter.h"
#include "capture/numpy/calls/dispatchers.h"
#include "capture/protocol/masked_selection.h"
#include "capture/protocol/operations.h"
#include "cpython/function.h"
#include "cpython/imported.h"
#include "guard/fetch.h"

namespace accel {

namespace {

PyRef attribute(PyObject* object, const char* name) {
  PyRef found = PyRef::steal(PyObject_GetAttrString(object, name));
  if (!found) PyErr_Clear();
  return found;
}

// Guards that the function's attributes that can be assigned to are unchanged. Functions of NumPy are assumed not to change.
void guard_function(Sources& sources, SourceId source, PyObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  if (is_library_file(utf8(code->co_filename))) return;
  if (source < 0) source = sources.pinned(function, short_repr(function));
  for (const char* part : {"__code__", "__defaults__", "__kwdefaults__"}) {
    PyRef name = PyRef::steal(PyUnicode_InternFromString(part));
    SourceId at = sources.attribute(source, name.get());
    sources.guard_identity(at, fetch_attribute(function, name.get()));
  }
}

// An item of a tuple in an immutable slot: a constant, or a value with a source if something in it can change.
Ref item_of_slot_tuple(Capture& capture, PyObject* tuple, Py_ssize_t index) {
  PyObject* object = PyTuple_GET_ITEM(tuple, index);
  if (is_deep_constant(object)) return capture.values().constant(object);
  Sources& sources = capture.sources();
  return capture.resolver().at(sources.item(sources.pinned(tuple, short_repr(tuple)), static_cast<int>(index)), object);
}

// The items of a dict in an immutable slot; other code may set its items.
std::vector<std::pair<PyRef, Ref>> items_of_slot_dict(Capture& capture, PyObject* dict, const std::string& name) {
  capture.changes().read_namespace(dict);
  return items_of_dict(capture, capture.sources().pinned(dict, name), dict);
}

// The keyword-only defaults of a function. Those of NumPy's functions are assumed not to change.
std::vector<std::pair<PyRef, Ref>> keyword_defaults(Capture& capture, PyObject* function, PyObject* defaults) {
  if (!is_library_file(utf8(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function))->co_filename)))
    return items_of_slot_dict(capture, defaults, short_repr(function) + ".__kwdefaults__");
  std::vector<std::pair<PyRef, Ref>> items;
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(defaults, &at, &key, &item);)
    items.emplace_back(PyRef::borrow(key), capture.values().constant(item));
  return items;
}

bool is_constant_tuple(const AbstractValue& value) { return value.kind == AbstractKind::tuple && value.object; }

// Whether an argument may override NumPy's functions through __array_function__.
bool may_override(Capture& capture, const Ref& value) {
  const Descent level;
  if (value->kind == AbstractKind::object) {
    static PyObject* const name = PyUnicode_InternFromString("__array_function__");
    PyTypeObject* type = capture.values().type_of(value);
    guard_class_entry(capture, type, name);
    return _PyType_Lookup(type, name) != nullptr;
  }
  bool sequence = value->kind == AbstractKind::tuple || value->kind == AbstractKind::list;
  if (!sequence || is_constant_tuple(*value)) return false;
  for (const Ref& item : value->items) {
    if (may_override(capture, item)) return true;
  }
  return false;
}

// Whether binding `descriptor` makes the builtin method `method`. If not, a class has overridden the method under its name.
bool is_method_of(PyObject* descriptor, PyObject* method) {
  const PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(method)->m_ml;
  bool is_method = Py_IS_TYPE(descriptor, &PyMethodDescr_Type) || Py_IS_TYPE(descriptor, &PyClassMethodDescr_Type);
  if (is_method) return reinterpret_cast<PyMethodDescrObject*>(descriptor)->d_method == definition;
  return !PyFunction_Check(descriptor);
}

bool is_foldable_value(const Ref& value) {
  const Descent level;
  if (value->kind == AbstractKind::constant) return is_foldable(value->object.get());
  if (value->kind != AbstractKind::tuple && value->kind != AbstractKind::list) return false;
  if (is_constant_tuple(*value)) return is_foldable(value->object.get());
  return std::all_of(value->items.begin(), value->items.end(), is_foldable_value);
}

bool has_parameters(PyObject* function, const CallArguments& arguments) {
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  if (arguments.positional.size() > static_cast<size_t>(code->co_argcount)) return false;
  return std::all_of(arguments.keywords.begin(), arguments.keywords.end(), [&](const auto& argument) {
    for (int i = code->co_posonlyargcount; i < code->co_argcount + code->co_kwonlyargcount; ++i) {
      if (utf8(local_name(code, i)) == argument.first) return true;
    }
    return false;
  });
}

bool are_constant(const CallArguments& arguments) {
  auto is_constant = [](const auto& argument) { return is_foldable_value(argument.second); };
  return std::all_of(arguments.positional.begin(), arguments.positional.end(), is_foldable_value) &&
         std::all_of(arguments.keywords.begin(), arguments.keywords.end(), is_constant);
}

// Whether a Python form is used for these arguments: if the first one is an iterable of any length, or there are keywords; or
// for forms for numbers, if some argument is not known at capture.
bool takes(Capture& capture, const PythonForm& form, const CallArguments& arguments) {
  if (form.function == nullptr || arguments.positional.empty() || !has_parameters(form.function, arguments)) return false;
  if (form.of == FormOf::numbers) return !are_constant(arguments);
  capture.resolver().look(arguments.positional[0]);
  switch (arguments.positional[0]->kind) {
    case AbstractKind::dynamic_list:
      return true;
    case AbstractKind::list:
    case AbstractKind::tuple:
      return form.of == FormOf::iterables && !arguments.keywords.empty();
    case AbstractKind::array:
    case AbstractKind::generator:
    case AbstractKind::iterator:
    case AbstractKind::range:
      return form.of == FormOf::iterables;
    default:
      return false;
  }
}

}  // namespace

Ref Calls::cell_of(PyObject* cell, const std::string& name) {
  Ref& ref = cells_[cell];
  if (ref) return ref;
  ref = std::make_shared<AbstractValue>();
  ref->kind = AbstractKind::cell;
  ref->object = PyRef::borrow(cell);
  if (PyObject* content = PyCell_GET(cell)) {
    ref->items = {capture_.resolver().at(capture_.sources().cell_object(cell, name), content)};
  }
  return ref;
}

PythonFunction Calls::constant_function(const Ref& value) {
  PyObject* object = value->object.get();
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  PythonFunction out;
  out.function = value;
  out.code = PyRef::borrow(PyFunction_GET_CODE(object));
  out.globals = PyRef::borrow(PyFunction_GET_GLOBALS(object));
  out.builtins = PyRef::borrow(function->func_builtins);
  if (PyObject* defaults = PyFunction_GET_DEFAULTS(object)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(defaults); ++i)
      out.defaults.push_back(item_of_slot_tuple(capture_, defaults, i));
  }
  if (PyObject* defaults = PyFunction_GET_KW_DEFAULTS(object))
    out.keyword_defaults = keyword_defaults(capture_, object, defaults);
  PyObject* closure = PyFunction_GET_CLOSURE(object);
  auto* code = reinterpret_cast<PyCodeObject*>(out.code.get());
  int first = local_count(code) - free_variable_count(code);
  for (Py_ssize_t i = 0; closure != nullptr && i < PyTuple_GET_SIZE(closure); ++i) {
    out.closure.push_back(cell_of(PyTuple_GET_ITEM(closure, i), utf8(local_name(code, first + static_cast<int>(i)))));
  }
  return out;
}

PythonFunction Calls::made_function(const Ref& value) {
  PythonFunction out;
  out.function = value;
  out.code = value->object;
  out.globals = value->items[0]->object;
  out.builtins = walk_.frames.back()->builtins;
  if (value->items[1]) out.defaults = value->items[1]->items;
  if (value->items[2]) {
    const AbstractValue& dict = *value->items[2];
    for (size_t i = 0; i < dict.keys.size(); ++i) out.keyword_defaults.emplace_back(dict.keys[i], dict.items[i]);
  }
  if (value->items[3]) out.closure = value->items[3]->items;
  return out;
}

Calls::Called Calls::enter(PythonFunction function, const CallArguments& arguments) {
  ACCEL_TRY([[maybe_unused]] Unit pushed, interpreter_.frames().push(std::move(function), arguments));
  return std::optional<Ref>();
}

Result<std::optional<Ref>> Calls::begin(const Ref& callable, CallArguments arguments) {
  if (CallByParts call = by_parts(callable)) return (this->*call)(callable, std::move(arguments));
  capture_.resolver().look(callable);
  switch (callable->kind) {
    case AbstractKind::function:
      return enter(made_function(callable), arguments);
    case AbstractKind::instance:
    case AbstractKind::object: {
      ACCEL_TRY(Ref method, class_method(capture_, callable, "__call__"));
      return begin(method, std::move(arguments));
    }
    case AbstractKind::method:
      return call_method(callable, std::move(arguments));
    case AbstractKind::constant:
      return call_constant(callable, std::move(arguments));
    case AbstractKind::partial:
      return call_parts(*callable, std::move(arguments));
    default:
      return fail(Reason::unsupported_call, "this object");
  }
}

Result<std::optional<Ref>> Calls::call_primitive(Primitive primitive, PyObject* object, const CallArguments& arguments) {
  for (const Ref& argument : arguments.positional) capture_.resolver().look_deep(argument);
  for (const auto& [name, argument] : arguments.keywords) capture_.resolver().look_deep(argument);
  if (!reads_lanes(primitive)) {
    for (const Ref& argument : arguments.positional) {
      ACCEL_TRY([[maybe_unused]] Unit gathered, materialise_deep(capture_, argument));
    }
    for (const auto& argument : arguments.keywords) {
      ACCEL_TRY([[maybe_unused]] Unit gathered, materialise_deep(capture_, argument.second));
    }
  }
  ACCEL_TRY(Ref result, primitive(capture_, object, arguments));
  return std::optional<Ref>(std::move(result));
}

Result<std::optional<Ref>> Calls::call_constant(const Ref& callable, CallArguments arguments) {
  PyObject* object = callable->object.get();
  if (PyFunction_Check(object)) {
    // A pure function of constants is evaluated; for other arguments its code is walked.
    Primitive fold = find_primitive(object);
    if (fold != nullptr && are_constant(arguments)) return call_primitive(fold, object, arguments);
    guard_function(capture_.sources(), callable->source, object);
    return enter(constant_function(callable), arguments);
  }
  PythonForm form = find_python_form(object);
  if (takes(capture_, form, arguments)) {
    std::string place = place_of(walk_.frames_before());
    if (form.of == FormOf::iterables ? interpreter_.generators().is_walked(place)
                                     : interpreter_.generators().may_be_walked(place))
      return walk_builtin(form.function, arguments);
  }
  if (Primitive primitive = find_primitive(object)) return call_primitive(primitive, object, arguments);
  if (PyCFunction_Check(object)) return call_bound_builtin(object, std::move(arguments));
  if (PyMethod_Check(object)) {
    arguments.positional.insert(arguments.positional.begin(), capture_.values().constant(PyMethod_GET_SELF(object)));
    return begin(capture_.values().constant(PyMethod_GET_FUNCTION(object)), std::move(arguments));
  }
  if (Py_TYPE(object) == known_types().partial) return call_partial(callable, std::move(arguments));
  if (Py_TYPE(object) == known_types().dispatcher) return call_dispatcher(object, std::move(arguments));
  if (PyObject* wrapped = unwrapped(object)) return begin(capture_.values().constant(wrapped), std::move(arguments));
  if (is_builtin_exception(object)) return make_exception(object, arguments);
  if (is_exception_class(object)) return fail(Reason::will_raise, short_repr(object));
  if (PyType_Check(object)) {
    ACCEL_TRY(Ref made, make_instance(capture_, callable, arguments));
    return std::optional<Ref>(std::move(made));
  }
  if (!is_plain_instance(object)) return fail(Reason::unsupported_call, short_repr(object));
  ACCEL_TRY(Ref method, class_method(capture_, callable, "__call__"));
  return begin(method, std::move(arguments));
}

// Walks the Python form of a builtin. Exits in it resume before the call.
Result<std::optional<Ref>> Calls::walk_builtin(PyObject* form, const CallArguments& arguments) {
  auto before = std::make_shared<const PathState>(walk_.save_before(capture_));
  ACCEL_TRY([[maybe_unused]] Unit pushed,
            interpreter_.frames().push(constant_function(capture_.values().constant(form)), arguments));
  walk_.frames.back()->in_library = true;
  walk_.frames.back()->before_call = std::move(before);
  return std::optional<Ref>();
}

// An exception instance made to be raised. Its arguments are dropped, because handlers in the captured code can only see its
// type.
Result<std::optional<Ref>> Calls::make_exception(PyObject* type, const CallArguments&) {
  PyRef exception = PyRef::steal(PyObject_CallNoArgs(type));
  if (!exception) {
    PyErr_Clear();
    return fail(Reason::will_raise, short_repr(type));
  }
  Ref value = std::make_shared<AbstractValue>();
  value->kind = AbstractKind::object;
  value->object = std::move(exception);
  return std::optional<Ref>(std::move(value));
}

// A builtin method bound to a constant: calls the primitive of the type's method.
Result<std::optional<Ref>> Calls::call_bound_builtin(PyObject* object, CallArguments arguments) {
  static PyObject* const warn = imported_attribute("warnings", "warn").release();
  if (object == warn && walk_.frames.back()->in_library) return fail(Reason::will_warn, "warnings.warn");
  PyObject* self = PyCFunction_GET_SELF(object);
  if (self == nullptr || PyModule_Check(self)) return fail(Reason::unsupported_call, short_repr(object));
  PyRef name = attribute(object, "__name__");
  PyTypeObject* type = PyType_Check(self) ? reinterpret_cast<PyTypeObject*>(self) : Py_TYPE(self);
  PyObject* descriptor = name ? _PyType_Lookup(type, name.get()) : nullptr;
  if (descriptor != nullptr && !is_method_of(descriptor, object)) descriptor = nullptr;
  Primitive primitive = descriptor != nullptr ? find_primitive(descriptor) : nullptr;
  if (primitive == nullptr) return fail(Reason::unsupported_call, short_repr(object));
  arguments.positional.insert(arguments.positional.begin(), capture_.values().constant(self));
  return call_primitive(primitive, descriptor, arguments);
}

Result<std::optional<Ref>> Calls::call_method(const Ref& method, CallArguments arguments) {
  Ref callable = method->items[0], self = method->items[1];
  if (self->kind == AbstractKind::opaque) return fail(Reason::unsupported_call, "a method of an object that a call has given");
  capture_.resolver().look(callable);
  PyObject* object = callable->object.get();
  bool builtin = callable->kind == AbstractKind::constant && Py_IS_TYPE(object, &PyMethodDescr_Type);
  if (builtin && self->kind == AbstractKind::constant && find_primitive(object) == nullptr) {
    // Some primitives are registered for the bound form only (add.reduce). The class of the object may override the method.
    PyObject* owner = reinterpret_cast<PyObject*>(Py_TYPE(self->object.get()));
    PyRef bound = PyRef::steal(Py_TYPE(object)->tp_descr_get(object, self->object.get(), owner));
    if (!bound) PyErr_Clear();
    Primitive primitive = bound ? find_primitive(bound.get()) : nullptr;
    if (primitive != nullptr) return call_primitive(primitive, bound.get(), arguments);
  }
  arguments.positional.insert(arguments.positional.begin(), self);
  return begin(callable, std::move(arguments));
}

// Calls functools.partial parts: items are the callable, the positional arguments, then the values of the keywords in `keys`.
Result<std::optional<Ref>> Calls::call_parts(const AbstractValue& partial, CallArguments arguments) {
  size_t first_keyword = partial.items.size() - partial.keys.size();
  arguments.positional.insert(arguments.positional.begin(), partial.items.begin() + 1,
                              partial.items.begin() + static_cast<std::ptrdiff_t>(first_keyword));
  for (size_t i = 0; i < partial.keys.size(); ++i) {
    std::string name = utf8(partial.keys[i].get());
    bool given = false;
    for (const auto& argument : arguments.keywords) given = given || argument.first == name;
    if (!given) arguments.keywords.emplace_back(name, partial.items[first_keyword + i]);
  }
  return begin(partial.items[0], std::move(arguments));
}

// Calls a functools.partial of the caller. Its slots and its tuple of arguments are immutable; its keywords are a dict.
Result<std::optional<Ref>> Calls::call_partial(const Ref& partial, CallArguments arguments) {
  PyObject* object = partial->object.get();
  PyRef function = attribute(object, "func"), values = attribute(object, "args"), keywords = attribute(object, "keywords");
  if (!function || !values || !keywords) return fail(Reason::unsupported_call, "functools.partial");
  AbstractValue parts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values.get()); ++i)
    parts.items.push_back(item_of_slot_tuple(capture_, values.get(), i));
  parts.items.insert(parts.items.begin(), capture_.values().constant(function.get()));
  for (auto& [key, item] : items_of_slot_dict(capture_, keywords.get(), "keywords of " + short_repr(object))) {
    parts.keys.push_back(key);
    parts.items.push_back(item);
  }
  return call_parts(parts, std::move(arguments));
}

// NumPy's dispatcher calls its implementation unless an argument overrides it.
Result<std::optional<Ref>> Calls::call_dispatcher(PyObject* dispatcher, CallArguments arguments) {
  auto check = [&](const Ref& argument) {
    capture_.resolver().look_deep(argument);
    return may_override(capture_, argument);
  };
  bool overridden = false;
  for (const Ref& argument : arguments.positional) overridden = overridden || check(argument);
  for (const auto& argument : arguments.keywords) overridden = overridden || check(argument.second);
  PyRef implementation = attribute(dispatcher, "_implementation");
  if (overridden || !implementation) return fail(Reason::unsupported_call, "arguments with __array_function__");
  ACCEL_TRY([[maybe_unused]] Unit dispatched, check_dispatch(capture_, implementation.get(), arguments));
  return begin(capture_.values().constant(implementation.get()), std::move(arguments));
}

}  // namespace accel
