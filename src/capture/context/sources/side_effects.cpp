#include "capture/context/sources/side_effects.h"

#include <algorithm>

#include "capture/context/context.h"
#include "capture/domain/repr.h"
#include "cpython/namespace.h"

namespace accel {

namespace {

// Objects of two types are distinct, but they may share a dict.
bool may_be_one(PyObject* left, PyObject* right) {
  return Py_TYPE(left) == Py_TYPE(right) || (may_share_names(Py_TYPE(left)) && may_share_names(Py_TYPE(right)));
}

}  // namespace

void ChangedObjects::leave_alone(const Ref& changed, SourceId other) {
  const std::string& text = sources_.text(changed->source);
  speculation_.objects.changed.erase(text);
  speculation_.objects.left_alone.try_emplace(text, sources_.text(other));
  speculation_.forget_numbering();
  throw Restart{};
}

void ChangedObjects::keep_apart(const Ref& changed, const Ref& other) {
  PyObject *one = changed->object.get(), *two = other->object.get();
  if (changed == other || !may_be_one(one, two)) return;
  if (one == two) {
    speculation_.forget_numbering();
    speculation_.objects.same.insert(std::minmax(sources_.text(changed->source), sources_.text(other->source)));
    throw Restart{};
  }
  if (namespace_of(one) == namespace_of(two)) leave_alone(changed, other->source);
  sources_.guard_memory(GuardKind::same_names, changed->source, other->source, false);
}

void ChangedObjects::keep_off(const Ref& changed, PyObject* dict, SourceId source) {
  PyObject* object = changed->object.get();
  if (object == nullptr || !may_share_names(Py_TYPE(object))) return;
  if (source < 0) source = sources_.pinned(dict, "a dict of names");
  if (namespace_of(object) == dict) leave_alone(changed, source);
  sources_.guard_memory(GuardKind::same_names, changed->source, source, false);
}

void ChangedObjects::read_namespace(PyObject* dict, SourceId source) {
  auto is_it = [&](const auto& known) { return known.first.get() == dict && known.second == source; };
  if (std::any_of(namespaces_.begin(), namespaces_.end(), is_it)) return;
  namespaces_.emplace_back(PyRef::borrow(dict), source);
  for (const Ref& changed : changed_) keep_off(changed, dict, source);
}

void ChangedObjects::meet(const Ref& object) {
  if (std::find(met_.begin(), met_.end(), object) != met_.end()) return;
  for (const Ref& changed : changed_) keep_apart(changed, object);
  met_.push_back(object);
}

void ChangedObjects::change(const Ref& object) {
  if (!came_.try_emplace(object->source, *object).second) return;
  for (const Ref& other : met_) keep_apart(object, other);
  for (const auto& [dict, source] : namespaces_) keep_off(object, dict.get(), source);
  auto before = [](const Ref& left, const Ref& right) { return left->source < right->source; };
  changed_.insert(std::upper_bound(changed_.begin(), changed_.end(), object, before), object);
}

const AbstractValue& ChangedObjects::as_it_came(const Ref& object) const {
  auto found = came_.find(object->source);
  return found == came_.end() ? *object : found->second;
}

void ChangedObjects::guard_length(const Ref& dict) {
  if (dict->source >= 0) sources_.guard_length(dict->source, static_cast<int64_t>(as_it_came(dict).items.size()));
}

void ChangedObjects::guard_keys(const Ref& dict) {
  if (dict->source >= 0) sources_.guard_keys(dict->source, as_it_came(dict).keys);
}

namespace {

// The item that an object has under a name or key; null: none.
Ref item_of(const AbstractValue& object, const PyRef& name) {
  for (size_t i = 0; i < object.keys.size(); ++i) {
    if (object.keys[i].get() == name.get()) return object.items[i];
  }
  return nullptr;
}

PyRef index_object(size_t index) { return PyRef::steal(PyLong_FromSize_t(index)); }

}  // namespace

bool ChangedObjects::is_shown(const Ref& object, const PyRef& name) const {
  auto found = speculation_.objects.shown.find(sources_.text(object->source));
  return found != speculation_.objects.shown.end() && found->second.contains(short_repr(name.get()));
}

std::vector<std::pair<PyRef, Ref>> ChangedObjects::stores_of(const Ref& object) const {
  const AbstractValue& original = as_it_came(object);
  std::vector<std::pair<PyRef, Ref>> stores;
  for (size_t i = 0; i < object->keys.size(); ++i) {
    const PyRef& name = object->keys[i];
    const Ref& value = object->items[i];
    if (value && (item_of(original, name) != value || is_shown(object, name))) stores.emplace_back(name, value);
  }
  for (size_t i = 0; object->kind == AbstractKind::list && i < object->items.size(); ++i) {
    PyRef index = index_object(i);
    if (original.items[i] != object->items[i] || is_shown(object, index))
      stores.emplace_back(std::move(index), object->items[i]);
  }
  return stores;
}

Status ChangedObjects::show() {
  bool fresh = false;
  for (const Ref& object : changed_) {
    for (const auto& [name, value] : stores_of(object)) {
      bool is_new_key = object->kind == AbstractKind::dict && !item_of(as_it_came(object), name);
      if (is_new_key) return fail(Reason::unsupported_call, "a call after a dict of the caller's has got a new key");
      fresh |= speculation_.objects.shown[sources_.text(object->source)].insert(short_repr(name.get())).second;
    }
  }
  if (!fresh) return Unit{};
  speculation_.forget_numbering();
  throw Restart{};
}

void ChangedObjects::forget(const std::set<const AbstractValue*>& restored) {
  for (const Ref& object : changed_) {
    if (!restored.contains(object.get())) *object = as_it_came(object);
  }
}

std::optional<size_t> own_attribute(const AbstractValue& object, PyObject* name) {
  for (size_t i = 0; i < object.keys.size(); ++i) {
    if (PyUnicode_Compare(object.keys[i].get(), name) == 0) return i;
  }
  return std::nullopt;
}

}  // namespace accel
