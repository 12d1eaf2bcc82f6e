// Stores to attributes of instances of Python classes. Runs no code of a class except property setters.

#include "capture/context/sources/class_guards.h"
#include "capture/domain/recognised_types.h"
#include "capture/domain/repr.h"
#include "capture/protocol/numpy_calls.h"
#include "capture/protocol/operations.h"
#include "guard/fetch.h"

namespace accel {

namespace {

// The property that handles a store to the attribute; null: the instance dict or a slot does.
Result<PyObject*> find_property(Capture& capture, PyTypeObject* type, PyObject* name) {
  PyObject* in_class = _PyType_Lookup(type, name);
  bool data = in_class != nullptr && Py_TYPE(in_class)->tp_descr_set != nullptr;
  bool slot = data && Py_IS_TYPE(in_class, &PyMemberDescr_Type), property = data && Py_IS_TYPE(in_class, &PyProperty_Type);
  if (data && !slot && !property) return fail(Reason::unsupported_attribute, "a store to an attribute with a setter");
  if (!data && type->tp_dictoffset == 0) return capture.raised(PyExc_AttributeError, "no attribute " + utf8(name));
  guard_class_entry(capture, type, name);
  guard_class_entries(capture, type, {"__setattr__"});
  return property ? in_class : nullptr;
}

Status call_setter(Capture& capture, PyObject* property, const Ref& owner, const Ref& value) {
  PyRef setter = PyRef::steal(PyObject_GetAttrString(property, "fset"));
  if (setter.get() == Py_None) return capture.raised(PyExc_AttributeError, "a property without a setter");
  CallArguments arguments;
  arguments.positional = {owner, value};
  ACCEL_TRY([[maybe_unused]] Ref none, capture.call(capture.values().constant(setter.get()), arguments));
  return Unit{};
}

void put(AbstractValue& owner, PyObject* name, const Ref& value) {
  std::optional<size_t> own = own_attribute(owner, name);
  if (own && owner.items[*own]) {
    owner.items[*own] = value;
    return;
  }
  // A new attribute is the last one.
  if (own) {
    owner.keys.erase(owner.keys.begin() + static_cast<std::ptrdiff_t>(*own));
    owner.items.erase(owner.items.begin() + static_cast<std::ptrdiff_t>(*own));
  }
  owner.keys.push_back(PyRef::borrow(name));
  owner.items.push_back(value);
}

// Whether the attribute is this value already, as in an augmented assignment to an array.
bool is_there(Capture& capture, const Ref& owner, PyObject* name, const Ref& value) {
  if (std::optional<size_t> own = own_attribute(*owner, name)) return owner->items[*own] == value;
  if (value->source < 0 || value->source != capture.sources().attribute(owner->source, name)) return false;
  PyObject* object = owner->object.get();
  return fetch_attribute(object, name) != _PyType_Lookup(Py_TYPE(object), name);
}

}  // namespace

Status set_made_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value) {
  auto* type = reinterpret_cast<PyTypeObject*>(owner->object.get());
  if (!has_plain_attributes(type)) return set_array_flag(capture, owner, name, value);
  ACCEL_TRY(PyObject * property, find_property(capture, type, name));
  if (property != nullptr) return call_setter(capture, property, owner, value);
  put(*owner, name, value);
  return Unit{};
}

Status set_object_attribute(Capture& capture, const Ref& owner, PyObject* name, const Ref& value) {
  PyObject* object = owner->object.get();
  PyTypeObject* type = Py_TYPE(object);
  bool plain = owner->source >= 0 && is_plain_instance(object) && type->tp_setattro == PyObject_GenericSetAttr;
  if (!plain) return fail(Reason::store_to_argument, "an attribute of " + type_name(object));
  ACCEL_TRY(PyObject * property, find_property(capture, type, name));
  if (property != nullptr) return call_setter(capture, property, owner, value);
  if (is_there(capture, owner, name, value)) return Unit{};
  if (!own_attribute(*owner, name)) {
    capture.resolver().plan_change(owner->source, name);
    return fail(Reason::store_to_argument, "an attribute of " + type_name(object));
  }
  put(*owner, name, value);
  capture.note_effect(true);
  return Unit{};
}

}  // namespace accel
