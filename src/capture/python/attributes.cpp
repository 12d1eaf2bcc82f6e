// Attributes, looked up as CPython does but without running any code of a class.

#include <algorithm>

#include "capture/context/sources/class_guards.h"
#include "capture/domain/compiled_functions.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "capture/python/numbers/scalar_expressions.h"
#include "guard/fetch.h"
#include "ndarray/array.h"

namespace accel {

namespace {

Failure missing(Capture& capture, PyObject* object, PyObject* name) {
  return capture.raised(PyExc_AttributeError, type_name(object) + " has no attribute " + utf8(name));
}

Failure unsupported(PyObject* object, PyObject* name) {
  return fail(Reason::unsupported_attribute, type_name(object) + "." + utf8(name));
}

bool is_method_descriptor(PyObject* descriptor) {
  return Py_IS_TYPE(descriptor, &PyMethodDescr_Type) || Py_IS_TYPE(descriptor, &PyWrapperDescr_Type);
}

bool is_one_of(PyObject* name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* each) { return PyUnicode_CompareWithASCIIString(name, each) == 0; });
}

Result<Ref> get_by_python(Capture& capture, PyObject* object, PyObject* name) {
  PyRef value = PyRef::steal(PyObject_GetAttr(object, name));
  if (!value) {
    PyErr_Clear();
    return missing(capture, object, name);
  }
  if (!is_deep_constant(value.get())) return unsupported(object, name);
  return capture.values().constant(value.get());
}

// Submodules that NumPy imports at the first access, as the captured code does.
bool is_lazy_submodule(const char* module, PyObject* name) {
  return module != nullptr && std::string(module) == "numpy" && is_one_of(name, {"fft", "linalg", "ma", "random"});
}

Result<Ref> module_attribute(Capture& capture, PyObject* module, PyObject* name) {
  PyObject* in_type = _PyType_Lookup(Py_TYPE(module), name);
  bool plain = Py_TYPE(module)->tp_getattro == PyModule_Type.tp_getattro;
  if (!plain || (in_type != nullptr && Py_TYPE(in_type)->tp_descr_set != nullptr)) return unsupported(module, name);
  PyObject* dict = PyModule_GetDict(module);
  capture.changes().read_namespace(dict);
  PyObject* value = PyDict_GetItemWithError(dict, name);
  Sources& sources = capture.sources();
  const char* module_name = PyModule_GetName(module);
  if (module_name == nullptr) PyErr_Clear();
  SourceId source = sources.global(dict, name, std::string(module_name == nullptr ? "?" : module_name) + "." + utf8(name));
  if (value == nullptr && is_lazy_submodule(module_name, name)) {
    PyRef imported = PyRef::steal(PyObject_GetAttr(module, name));
    PyErr_Clear();
    value = PyDict_GetItemWithError(dict, name);
  }
  if (value != nullptr) return bound_in_module(capture, source, value);
  static PyObject* const fallback = PyUnicode_InternFromString("__getattr__");
  if (in_type != nullptr || PyDict_GetItemWithError(dict, fallback) != nullptr) return unsupported(module, name);
  sources.guard_unbound(source);
  sources.guard_unbound(sources.global(dict, fallback, sources.text(source) + " by __getattr__"));
  return missing(capture, module, name);
}

// Whether a class attribute is no descriptor and differs from earlier versions: then it is data like an instance attribute.
bool is_changing_data(Capture& capture, SourceId source, PyObject* found) {
  return source >= 0 && Py_TYPE(found)->tp_descr_get == nullptr && capture.sources().has_changed(source);
}

// A class attribute under an identity guard is a constant, unlike the data of instances.
AbstractValue known_constant(Capture& capture, const Ref& attribute, PyObject* object) {
  AbstractValue known = *capture.values().constant(object);
  known.source = attribute->source;
  return known;
}

// The result of __get__ of a class attribute for an instance (null `instance`: for the class itself).
Result<Ref> bound_attribute(Capture& capture, const Ref& attribute, const Ref& instance, PyTypeObject* owner, PyObject* name) {
  PyObject* found = attribute->object.get();
  auto of = [&](const char* part) {
    PyRef inner = PyRef::steal(PyObject_GetAttrString(found, part));
    return capture.values().constant(inner.get());
  };
  if (is_python_function(found) || is_method_descriptor(found) || generator_primitive(found) != nullptr) {
    capture.resolver().look(attribute);
    return instance ? capture.values().method(attribute, instance) : attribute;
  }
  if (Py_IS_TYPE(found, &PyStaticMethod_Type)) return of("__func__");
  if (Py_IS_TYPE(found, &PyClassMethod_Type)) {
    return capture.values().method(of("__func__"), capture.values().constant(reinterpret_cast<PyObject*>(owner)));
  }
  if (Py_IS_TYPE(found, &PyClassMethodDescr_Type) && !can_change(owner)) {
    return get_by_python(capture, reinterpret_cast<PyObject*>(owner), name);
  }
  if (Py_TYPE(found)->tp_descr_get == nullptr) {
    bool is_constant = is_plain_constant(found) && !is_changing_data(capture, attribute->source, found);
    if (attribute->kind == AbstractKind::lazy && is_constant) *attribute = known_constant(capture, attribute, found);
    return attribute;
  }
  if (!instance) return unsupported(reinterpret_cast<PyObject*>(owner), name);
  if (Py_IS_TYPE(found, &PyProperty_Type)) {
    CallArguments arguments;
    arguments.positional = {instance};
    return capture.call(of("fget"), arguments);
  }
  return unsupported(instance->object.get(), name);
}

// The entry of a class dict, guarded if the class can change.
Ref class_entry(Capture& capture, SourceId owner, PyObject* name, PyObject* found, bool changeable) {
  if (!changeable) return capture.values().constant(found);
  SourceId source = capture.sources().attribute(owner, name);
  Ref entry = capture.resolver().at(source, found);
  if (!is_changing_data(capture, source, found)) capture.sources().guard_identity(source, found);
  return entry;
}

Result<Ref> type_attribute(Capture& capture, const Ref& value, PyObject* name) {
  auto* type = reinterpret_cast<PyTypeObject*>(value->object.get());
  PyTypeObject* meta = Py_TYPE(value->object.get());
  if (meta->tp_getattro != PyType_Type.tp_getattro) return unsupported(value->object.get(), name);
  PyObject* in_meta = _PyType_Lookup(meta, name);
  if (in_meta != nullptr && Py_TYPE(in_meta)->tp_descr_set != nullptr) {
    if (is_one_of(name, {"__name__", "__qualname__", "__module__"})) return get_by_python(capture, value->object.get(), name);
    return unsupported(value->object.get(), name);
  }
  PyObject* found = _PyType_Lookup(type, name);
  guard_class_entry(capture, meta, name);
  if (found == nullptr && in_meta == nullptr) {
    guard_plain_lookup(capture, meta);
    guard_class_entry(capture, type, name);
    return missing(capture, value->object.get(), name);
  }
  if (found == nullptr) return unsupported(value->object.get(), name);
  SourceId owner = value->source;
  if (owner < 0 && can_change(type)) owner = capture.sources().pinned(value->object.get(), short_repr(value->object.get()));
  return bound_attribute(capture, class_entry(capture, owner, name, found, can_change(type)), nullptr, type, name);
}

// The index of the item that a named tuple's attribute reads, or nullopt.
std::optional<int> named_item(PyObject* object, PyObject* descriptor) {
  PyTypeObject* getter = known_types().tuple_getter;
  if (descriptor == nullptr || getter == nullptr || !Py_IS_TYPE(descriptor, getter) || !PyTuple_Check(object))
    return std::nullopt;
  PyRef parts = PyRef::steal(PyObject_CallMethod(descriptor, "__reduce__", nullptr));
  PyRef index = PyRef::steal(parts ? PySequence_GetItem(parts.get(), 1) : nullptr);
  PyRef number = PyRef::steal(index ? PySequence_GetItem(index.get(), 0) : nullptr);
  int item = number ? static_cast<int>(PyLong_AsLong(number.get())) : -1;
  if (PyErr_Occurred()) PyErr_Clear();
  if (item < 0 || item >= PyTuple_GET_SIZE(object)) return std::nullopt;
  return item;
}

// Attributes of a bound method; those that it lacks are its function's.
Result<Ref> method_attribute(Capture& capture, const Ref& method, PyObject* name) {
  PyObject* object = method->object.get();
  Sources& sources = capture.sources();
  sources.guard_type(method->source, &PyMethod_Type);
  if (PyObject* part = fetch_attribute(object, name))
    return capture.resolver().at(sources.attribute(method->source, name), part);
  if (_PyType_Lookup(&PyMethod_Type, name) != nullptr && !is_one_of(name, {"__doc__"})) return unsupported(object, name);
  static PyObject* const function = PyUnicode_InternFromString("__func__");
  Ref whole = capture.resolver().at(sources.attribute(method->source, function), PyMethod_GET_FUNCTION(object));
  return get_attribute(capture, whole, name);
}

// Attributes of a builtin method that arrives as data. It has those of its type only, and their values may differ between
// objects.
Result<Ref> builtin_method_attribute(Capture& capture, const Ref& method, PyObject* name) {
  if (_PyType_Lookup(Py_TYPE(method->object.get()), name) == nullptr) return missing(capture, method->object.get(), name);
  ACCEL_TRY(PyRef object, capture.constants().require_constant(method));
  return get_by_python(capture, object.get(), name);
}

// Other code may set attributes of a function as items of its dict.
void read_dict_of_function(Capture& capture, const Ref& function) {
  static PyObject* const name = PyUnicode_InternFromString("__dict__");
  PyObject* dict = fetch_attribute(function->object.get(), name);
  capture.changes().read_namespace(dict, capture.sources().attribute(function->source, name));
}

// Attributes of an instance of a Python class at a source.
Result<Ref> instance_attribute(Capture& capture, const Ref& value, PyObject* name) {
  PyObject* object = value->object.get();
  PyTypeObject* type = Py_TYPE(object);
  if (PyMethod_Check(object) && value->source >= 0) return method_attribute(capture, value, name);
  if (PyCFunction_Check(object)) return builtin_method_attribute(capture, value, name);
  if (type->tp_getattro != PyObject_GenericGetAttr || value->source < 0 || is_one_of(name, {"__dict__"}))
    return unsupported(object, name);
  if (auto own = own_attribute(*value, name); own && value->items[*own]) return value->items[*own];
  capture.changes().meet(value);
  Sources& sources = capture.sources();
  sources.guard_type(value->source, type);
  if (PyFunction_Check(object)) read_dict_of_function(capture, value);
  SourceId source = sources.attribute(value->source, name);
  PyObject* in_class = _PyType_Lookup(type, name);
  PyObject* found = fetch_attribute(object, name);
  if (auto item = named_item(object, in_class); item && found == in_class) {
    class_entry(capture, value->source, name, found, can_change(type));
    return capture.resolver().at(sources.item(value->source, *item), PyTuple_GET_ITEM(object, *item));
  }
  if (found == nullptr) {
    if (in_class != nullptr) return unsupported(object, name);
    sources.guard_unbound(source);
    guard_plain_lookup(capture, type);
    return missing(capture, object, name);
  }
  if (found != in_class) {
    sources.guard_bound(source);
    return capture.resolver().at(source, found);
  }
  return bound_attribute(capture, class_entry(capture, value->source, name, found, can_change(type)), value, type, name);
}

// Attributes of an instance that the captured code made. For a C type: methods, and the parts under their names.
Result<Ref> made_attribute(Capture& capture, const Ref& value, PyObject* name) {
  auto* type = reinterpret_cast<PyTypeObject*>(value->object.get());
  PyObject* in_class = _PyType_Lookup(type, name);
  bool data = in_class != nullptr && Py_TYPE(in_class)->tp_descr_set != nullptr;
  std::optional<size_t> own = own_attribute(*value, name);
  bool slot = data && Py_IS_TYPE(in_class, &PyMemberDescr_Type);
  if (own && (!data || slot || !has_plain_attributes(type))) return value->items[*own];
  if (in_class == nullptr || slot) {
    guard_class_entry(capture, type, name);
    return missing(capture, value->object.get(), name);
  }
  if (data && !Py_IS_TYPE(in_class, &PyProperty_Type)) return unsupported(value->object.get(), name);
  SourceId owner = -1;
  if (can_change(type)) owner = capture.sources().pinned(value->object.get(), short_repr(value->object.get()));
  return bound_attribute(capture, class_entry(capture, owner, name, in_class, can_change(type)), value, type, name);
}

// The first class after `from` in the MRO of `type` whose own dict has the name; null: none.
PyTypeObject* next_class_with(Capture& capture, PyTypeObject* type, PyTypeObject* from, PyObject* name) {
  guard_bases(capture, type);
  bool is_after = false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(type->tp_mro); ++k) {
    auto* each = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, k));
    if (is_after) {
      guard_class_entry(capture, each, name);
      PyRef dict = PyRef::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(each), "__dict__"));
      if (dict && PyMapping_HasKey(dict.get(), name) == 1) return each;
    }
    is_after |= each == from;
  }
  return nullptr;
}

// Attribute lookup of super(class, self).
Result<Ref> super_attribute(Capture& capture, const Ref& value, PyObject* name) {
  const Ref& self = value->items[1];
  capture.resolver().look(self);
  auto* from = reinterpret_cast<PyTypeObject*>(value->items[0]->object.get());
  bool is_class = self->kind == AbstractKind::constant && PyType_Check(self->object.get());
  PyTypeObject* type = is_class ? reinterpret_cast<PyTypeObject*>(self->object.get()) : capture.values().type_of(self);
  bool known = type != nullptr && PyType_IsSubtype(type, from) != 0 && !is_one_of(name, {"__class__"});
  if (!known) return fail(Reason::unsupported_attribute, "super." + utf8(name));
  if (!is_class && self->source >= 0) capture.sources().guard_type(self->source, type);
  PyTypeObject* owner = next_class_with(capture, type, from, name);
  if (owner == nullptr) return missing(capture, reinterpret_cast<PyObject*>(&PySuper_Type), name);
  auto* object = reinterpret_cast<PyObject*>(owner);
  SourceId source = can_change(owner) ? capture.sources().pinned(object, short_repr(object)) : -1;
  Ref entry = class_entry(capture, source, name, _PyType_Lookup(owner, name), can_change(owner));
  return bound_attribute(capture, entry, is_class ? nullptr : self, type, name);
}

// Whether the object is of a C type with pure getters and attributes that never change.
bool is_frozen(PyObject* object) {
  return is_foldable(object) || is_ufunc(object) || PyCFunction_Check(object) || Py_IS_TYPE(object, &PyMethodDescr_Type) ||
         PyCode_Check(object) || PyContextVar_CheckExact(object) || Py_TYPE(object) == known_types().partial ||
         Py_TYPE(object) == known_types().dispatcher;
}

Result<Ref> constant_attribute(Capture& capture, const Ref& value, PyObject* name) {
  PyObject* object = value->object.get();
  if (PyModule_Check(object)) return module_attribute(capture, object, name);
  if (PyType_Check(object)) return type_attribute(capture, value, name);
  if (!is_frozen(object)) return instance_attribute(capture, value, name);
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (descriptor != nullptr && is_method_descriptor(descriptor))
    return capture.values().method(capture.values().constant(descriptor), value);
  Result<Ref> found = get_by_python(capture, object, name);
  const bool is_itself = found.ok() && (*found)->kind == AbstractKind::constant && (*found)->object.get() == object;
  return is_itself ? Result<Ref>(value) : found;
}

// Attributes of values that only exist in capture: methods of their types.
Result<Ref> builtin_attribute(Capture& capture, const Ref& value, PyObject* name) {
  PyTypeObject* type = capture.values().type_of(value);
  if (type == nullptr) return fail(Reason::unsupported_attribute, utf8(name));
  if (value->kind == AbstractKind::slice) {
    const char* parts[] = {"start", "stop", "step"};
    for (size_t i = 0; i < 3; ++i) {
      if (is_one_of(name, {parts[i]})) return value->items[i];
    }
  }
  if (value->kind == AbstractKind::scalar) {
    if (auto part = python_attribute(capture, value, utf8(name))) return *part;
  }
  PyObject* descriptor = _PyType_Lookup(type, name);
  if (descriptor != nullptr && is_method_descriptor(descriptor))
    return capture.values().method(capture.values().constant(descriptor), value);
  if (descriptor == nullptr && value->kind != AbstractKind::function) {
    return capture.raised(PyExc_AttributeError, std::string(type->tp_name) + " has no attribute " + utf8(name));
  }
  return fail(Reason::unsupported_attribute, std::string(type->tp_name) + "." + utf8(name));
}

Result<Ref> numpy_attribute(Capture& capture, const Ref& value, PyObject* name) {
  if (_PyType_Lookup(capture.values().type_of(value), name) == nullptr) {
    return capture.raised(PyExc_AttributeError,
                          std::string(capture.values().type_of(value)->tp_name) + " has no attribute " + utf8(name));
  }
  return array_attribute(capture, value, utf8(name));
}

}  // namespace

namespace {

// Calls the Python-written __new__ of a named tuple, in which tuple.__new__ makes the instance.
Result<Ref> make_named_tuple(Capture& capture, const Ref& cls, CallArguments arguments) {
  PyRef name = PyRef::steal(PyUnicode_InternFromString("__new__"));
  ACCEL_TRY(Ref make, get_attribute(capture, cls, name.get()));
  arguments.positional.insert(arguments.positional.begin(), cls);
  ACCEL_TRY(Ref made, capture.call(make, arguments));
  if (capture.values().type_of(made) != reinterpret_cast<PyTypeObject*>(cls->object.get()))
    return fail(Reason::unsupported_call, short_repr(cls->object.get()));
  return made;
}

}  // namespace

Result<Ref> make_instance(Capture& capture, const Ref& cls, const CallArguments& arguments) {
  PyObject* object = cls->object.get();
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  bool plain_meta = Py_IS_TYPE(object, &PyType_Type) || Py_TYPE(object) == known_types().abc;
  if (plain_meta && is_named_tuple(type)) {
    guard_class_entries(capture, type, {"__init__", "__del__", "__len__", "__iter__", "__getitem__"});
    guard_plain_lookup(capture, type);
    return make_named_tuple(capture, cls, arguments);
  }
  if (!plain_meta || (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) != 0 || !has_plain_attributes(type))
    return fail(Reason::unsupported_call, short_repr(object));
  guard_class_entries(capture, type, {"__new__", "__init__", "__del__"});
  guard_plain_lookup(capture, type);
  PyRef name = PyRef::steal(PyUnicode_InternFromString("__init__"));
  PyObject* init = _PyType_Lookup(type, name.get());
  Ref made = capture.values().instance(type);
  if (init != nullptr && is_python_function(init)) {
    ACCEL_TRY(Ref method, get_attribute(capture, made, name.get()));
    ACCEL_TRY([[maybe_unused]] Ref none, capture.call(method, arguments));
    return made;
  }
  bool plain = type->tp_init == PyBaseObject_Type.tp_init && arguments.positional.empty() && arguments.keywords.empty();
  if (!plain) return fail(Reason::unsupported_call, short_repr(object));
  return made;
}

Result<Ref> class_method(Capture& capture, const Ref& value, const char* name) {
  PyTypeObject* type = capture.values().type_of(value);
  PyRef key = PyRef::steal(PyUnicode_InternFromString(name));
  PyObject* found = type != nullptr ? _PyType_Lookup(type, key.get()) : nullptr;
  if (found == nullptr || !is_python_function(found))
    return fail(Reason::unsupported_call, "an object of type " + std::string(type == nullptr ? "?" : type->tp_name));
  if (value->source >= 0) capture.sources().guard_type(value->source, type);
  auto* object = reinterpret_cast<PyObject*>(type);
  SourceId owner = can_change(type) ? capture.sources().pinned(object, short_repr(object)) : -1;
  return capture.values().method(class_entry(capture, owner, key.get(), found, can_change(type)), value);
}

// A method of a container of the caller. The container is not resolved; the method does so if it reads items.
std::optional<Ref> container_method(Capture& capture, const Ref& value, PyObject* name) {
  PyObject* object = value->kind == AbstractKind::lazy ? value->object.get() : nullptr;
  if (object == nullptr || !(PyList_CheckExact(object) || PyDict_CheckExact(object))) return std::nullopt;
  PyObject* descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (descriptor == nullptr || !is_method_descriptor(descriptor)) return std::nullopt;
  capture.sources().guard_type(value->source, Py_TYPE(object));
  return capture.values().method(capture.values().constant(descriptor), value);
}

Result<Ref> bound_in_module(Capture& capture, SourceId source, PyObject* value) {
  capture.sources().guard_bound(source);
  if (Py_TYPE(value) != known_types().lazy_import) return capture.resolver().at(source, value);
  capture.sources().guard_identity(source, value);
  return fail(Reason::unsupported_value, "a lazy import before its first use");
}

Result<Ref> get_attribute(Capture& capture, const Ref& value, PyObject* name) {
  if (std::optional<Ref> method = container_method(capture, value, name)) return *method;
  capture.resolver().look(value);
  switch (value->kind) {
    case AbstractKind::array:
    case AbstractKind::masked_selection:
      return numpy_attribute(capture, value, name);
    case AbstractKind::scalar:
      if (value->scalar.kind == ValueKind::numpy_scalar) return numpy_attribute(capture, value, name);
      return builtin_attribute(capture, value, name);
    case AbstractKind::constant:
      return constant_attribute(capture, value, name);
    case AbstractKind::object:
      if (is_array(value->object.get())) return capture.resolver().refusal(value);
      return instance_attribute(capture, value, name);
    case AbstractKind::instance:
      return made_attribute(capture, value, name);
    case AbstractKind::super:
      return super_attribute(capture, value, name);
    case AbstractKind::opaque:
      return fail(Reason::unsupported_attribute, "an attribute of an object that a call has given");
    case AbstractKind::null:
      return fail(Reason::internal_error, "an attribute of NULL");
    default:
      return builtin_attribute(capture, value, name);
  }
}

}  // namespace accel
